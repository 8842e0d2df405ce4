"""Random chains of operations against jax: what is said of their shapes, from any knowledge of ranks, is right."""

from __future__ import annotations

import random

import jax
import numpy as np
import pytest

from .test_against_jax import abstract, check, traced

OPERATIONS = [
    "{r}+1",
    "jax.nn.relu({r})",
    "{r}[:,None]",
    "{r}[None]",
    "{r}[...,None]",
    "{r}[0]",
    "{r}[:,0]",
    "{r}[...,0]",
    "{r}[...,:3]",
    "{r}[:,1:]",
    "{r}[:,:-1]",
    "{r}[:,-2:]",
    "{r}.reshape({r}.shape[0],-1)",
    "{r}.reshape(*{r}.shape[:-1],2,-1)",
    "{r}.reshape(-1,{r}.shape[-1])",
    "{r}.reshape({r}.shape[:-2]+(-1,))",
    "{r}.reshape((1,)+{r}.shape)",
    "{r}.transpose(0,2,1)",
    "{r}.swapaxes(-1,-2)",
    "{r}.swapaxes(0,1)",
    "jnp.moveaxis({r},1,-1)",
    "jnp.moveaxis({r},-1,1)",
    "{r}.mean(1)",
    "{r}.mean(-1)",
    "{r}.mean(-1,keepdims=True)",
    "{r}.sum((-1,-2))",
    "jnp.concatenate([{r},{r}],-1)",
    "jnp.concatenate([{r},{r}],1)",
    "jnp.concatenate([{r},jnp.zeros((*{r}.shape[:-1],2))],-1)",
    "jnp.stack([{r},{r}],1)",
    "jnp.stack([{r},{r}],-1)",
    "jnp.split({r},2,-1)[0]",
    "jnp.expand_dims({r},1)",
    "jnp.expand_dims({r},-2)",
    "jnp.squeeze({r},-1)",
    "jnp.squeeze({r},1)",
    "jnp.repeat({r},2,1)",
    "jnp.tile({r},(1,2))",
    "jnp.tile({r},2)",
    "{r}+{r}.mean(-1,keepdims=True)",
    "{r}*{r}.shape[-1]",
    "{r}+jnp.ones({r}.shape[-1])",
    "{r}+jnp.ones((1,{r}.shape[-1]))",
    "{r}+{r}[:,None]",
    "{r}@{r}.swapaxes(-1,-2)",
    "jnp.einsum('...ij,...kj->...ik',{r},{r})",
    "jnp.einsum('bij->bji',{r})",
    "jnp.einsum('...i->...',{r})",
    "{r}*x",
    "{r}+y",
    "x+{r}",
    "jnp.where({r}>0,{r},y)",
    "jnp.broadcast_to({r},(2,)+{r}.shape)",
    "{r}.ravel()",
    "{r}.T",
    "jax.nn.one_hot(jnp.argmax({r},-1),4)",
    "nn.max_pool({r},(2,),(2,))",
    "nn.avg_pool({r},(2,2),(2,2),'SAME')",
    "{r}[jnp.arange(2)]",
    "{r}[:,jnp.arange(2)]",
    "{r}[...,jnp.arange(2)]",
    "jnp.take({r},jnp.arange(2),axis=1)",
    "jnp.pad({r},((0,0),(1,1),(0,0)))",
    "{r}.at[:,0].set(0.)",
    "jnp.arange({r}.shape[1])",
    "jnp.arange({r}.shape[-1])[None]*{r}",
    "{r}.reshape({r}.shape[0],{r}.shape[1],-1)",
    "{r}[:,:,None]",
    "{r}[0,...,None]",
    "{r}[...,None,:]",
    "{r}.shape[1:]",
    "jnp.zeros({r}.shape[1:])",
    "jnp.ones({r}.shape[:1]+{r}.shape[2:])",
    "jnp.dot({r},jnp.ones(({r}.shape[-1],5)))",
    "jnp.tensordot({r},jnp.ones(({r}.shape[-1],5)),1)",
    "jnp.cumsum({r},1)",
    "jnp.flip({r},1)",
    "{r}[::2]",
    "{r}[:,::2]",
    "{r}[...,::-1]",
    "einops.rearrange({r},'b ... c -> b (...) c')",
    "einops.rearrange({r},'... (a b) -> ... a b',a=2)",
    "einops.reduce({r},'b ... c -> b c','mean')",
    "lax.top_k({r},2)[0]",
    "jnp.array_split({r},3,-1)[1]",
    "jnp.vstack([{r},{r}])",
    "jnp.hstack([{r},{r}])",
    "jnp.diff({r})",
    "jnp.fft.rfft({r})",
    "jnp.take_along_axis({r},jnp.argmax({r},-1,keepdims=True),-1)",
    "jnp.broadcast_to({r}[None],(3,*{r}.shape))",
]
SHAPES = [(2, 6, 4), (2, 4), (4,), (2, 4, 6, 8), (1, 2, 4), (3, 1, 4), (4, 4)]


@pytest.mark.parametrize("seed", range(6))
def test_chains(seed: int) -> None:
    rng = random.Random(seed)
    ran = known = 0
    while ran < 120:
        text = rng.choice("xy")
        for _ in range(rng.randint(1, 4)):
            text = rng.choice(OPERATIONS).replace("{r}", f"({text})")
        if len(text) > 4000:
            continue
        actual = {"x": rng.choice(SHAPES), "y": rng.choice(SHAPES)}
        try:
            truth = traced(text, actual)
        except Exception:  # the chain does not fit these sizes
            continue
        if any(0 in np.shape(leaf) for leaf in jax.tree.leaves(truth)):
            continue  # sizes are at least 1
        ran += 1
        known += check(abstract(text, "constant", actual), truth, actual, text)
        check(abstract(text, "ranked", actual), truth, actual, text)
        try:
            check(abstract(text, "open", actual), truth, actual, text)
        except IndexError:
            pass  # a size that does not exist raises where it is computed
    assert known >= 0.98 * ran

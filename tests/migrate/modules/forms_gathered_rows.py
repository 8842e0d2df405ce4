"""Rows that arguments pick out of others, as in graph networks; `CASES` as in forms_basic."""

import flax.linen as nn
import jax
import jax.numpy as jnp

SENDERS, RECEIVERS = jnp.array([0, 1, 2]), jnp.array([1, 3, 2])


class Beside(nn.Module):
  @nn.compact
  def __call__(self, nodes, senders):
    return nn.Dense(6)(jnp.concatenate([nodes[senders], nodes], -1))


class BothEnds(nn.Module):
  @nn.compact
  def __call__(self, nodes, senders, receivers):
    m = jnp.concatenate([nodes[senders], nodes[receivers]], -1)
    m = nn.relu(nn.Dense(6)(m))
    got = jax.ops.segment_sum(m, receivers, num_segments=nodes.shape[0])
    return nn.Dense(3)(jnp.concatenate([nodes, got], -1))


class WithEdges(nn.Module):
  @nn.compact
  def __call__(self, nodes, edges, senders):
    x = nn.Dense(8)(nodes)
    m = nn.Dense(6)(jnp.concatenate([x[senders], edges], axis=-1))
    got = jax.ops.segment_max(m, segment_ids=senders, num_segments=nodes.shape[0])
    return nn.Dense(3)(jnp.concatenate([x, got], axis=-1))


class ByColumns(nn.Module):
  @nn.compact
  def __call__(self, nodes, edges, senders):
    return nn.Dense(6)(jnp.concatenate([nodes[senders], edges], axis=1))


class PairsOfEnds(nn.Module):
  @nn.compact
  def __call__(self, nodes, edges, ends):
    s, r = ends
    return nn.Dense(6)(jnp.concatenate([nodes[s], nodes[r], edges], axis=-1))


class OfColumns(nn.Module):
  @nn.compact
  def __call__(self, nodes, edges, ends):
    return nn.Dense(6)(jnp.concatenate([nodes[ends[0]], nodes[ends[1]], edges], axis=-1))


class SummedArguments(nn.Module):
  @nn.compact
  def __call__(self, nodes, edges, receivers):
    got = jax.ops.segment_sum(edges, receivers, nodes.shape[0])
    return nn.Dense(6)(jnp.concatenate([nodes, got], -1))


CASES = [
  ('Beside', {}, [(3, 5), SENDERS], {}),
  ('BothEnds', {}, [(4, 5), SENDERS, RECEIVERS], {}),
  ('WithEdges', {}, [(4, 5), (3, 7), SENDERS], {}),
  ('ByColumns', {}, [(4, 5), (3, 7), SENDERS], {}),
  ('PairsOfEnds', {}, [(4, 5), (3, 7), jnp.stack([SENDERS, RECEIVERS])], {}),
  ('OfColumns', {}, [(4, 5), (3, 7), jnp.stack([SENDERS, RECEIVERS])], {}),
  ('SummedArguments', {}, [(4, 5), (3, 7), RECEIVERS], {}),
]

"""The classes of the open corpus that are run on both sides: where they stand and how they are made small.

`build(load)` returns the constructor, its positional and its keyword arguments. It is called once per side with that
side's `load(module)`, since configs and factories come from the package itself. `inputs` are float shapes or `i:` token
shapes of the positional call arguments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

Load = Callable[[str], Any]
Build = Callable[[Load], tuple[Any, tuple[Any, ...], dict[str, Any]]]


@dataclasses.dataclass(frozen=True)
class Case:
    """One class: package folder, how to build it, its inputs, keyword inputs of the call, stubs for what it imports."""

    name: str
    package: str
    build: Build
    inputs: tuple[str, ...]
    call: dict[str, Any] = dataclasses.field(default_factory=dict)
    stubs: tuple[str, ...] = ()
    subdirectory: str = ""  # put on the path instead of the package folder
    streams: tuple[str, ...] = ("params", "dropout")


def _bert(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("transformers").BertConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, vocab_size=32, intermediate_size=32
    )
    return load("transformers.models.bert.modeling_flax_bert").FlaxBertModule, (config,), {}


def _gpt2(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("transformers").GPT2Config(n_embd=16, n_layer=2, n_head=2, vocab_size=32, n_positions=16)
    return load("transformers.models.gpt2.modeling_flax_gpt2").FlaxGPT2LMHeadModule, (config,), {}


def _bart(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("transformers").BartConfig(
        d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=32, decoder_ffn_dim=32, vocab_size=32, max_position_embeddings=16,
    )  # fmt: skip
    return load("transformers.models.bart.modeling_flax_bart").FlaxBartModule, (config,), {}


def _clip_vision(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("transformers").CLIPVisionConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16, patch_size=8
    )
    return load("transformers.models.clip.modeling_flax_clip").FlaxCLIPVisionModule, (config,), {}


def _hf(folder: str, config: str, cls: str, **values: Any) -> Build:
    """A module of transformers with a small configuration."""

    def build(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        made = getattr(load("transformers"), config)(**values)
        return getattr(load(f"transformers.models.{folder}.modeling_flax_{folder}"), cls), (made,), {}

    return build


_ENCODER = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 32, "intermediate_size": 32,
    "max_position_embeddings": 16,
}  # fmt: skip
_VISION = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "image_size": 16,
    "patch_size": 8, "pooler_output_size": 16,
}  # fmt: skip
_SEQ2SEQ = {
    "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 32, "max_position_embeddings": 16, "pad_token_id": 1,
}  # fmt: skip


def _unet_condition(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    module = load("diffusers.models.unets.unet_2d_condition_flax")
    return module.FlaxUNet2DConditionModel, (), {
        "sample_size": 8, "block_out_channels": (32, 64), "layers_per_block": 1, "cross_attention_dim": 16,
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
    }  # fmt: skip


def _critic(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    keywords = {"net_arch": [16, 16], "use_layer_norm": True, "n_critics": 2}
    return load("sbx.common.policies").VectorCritic, (), keywords


def _brax(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return load("brax.training.networks").MLP, ((16, 16, 4),), {"layer_norm": True}


def _scico(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return load("scico.flax._models").UNet, (2, 1, 8), {}


def _resnet18(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return load("jax_resnet.resnet").ResNet18, (), {"n_classes": 5}


def _clip_jax(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return load("clip_jax.modeling").CLIPVisionTransformer, (16, 16, 8), {
        "num_layers": 2, "use_rmsnorm": False, "ln_type": "preln", "num_heads": 2, "use_causal_mask": False,
        "mlp_dim": 32, "position_embedding_type": "learnt", "position_embedding_shape": (2, 2),
    }  # fmt: skip


def _lm1b(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    module = load("models")
    config = module.TransformerConfig(
        vocab_size=32, output_vocab_size=32, emb_dim=16, num_heads=2, num_layers=2, qkv_dim=16, mlp_dim=32, max_len=16,
        deterministic=True,
    )  # fmt: skip
    return module.TransformerLM, (config,), {}


def _wmt(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    module = load("models")
    config = module.TransformerConfig(
        vocab_size=32, output_vocab_size=32, emb_dim=16, num_heads=2, num_layers=2, qkv_dim=16, mlp_dim=32, max_len=16,
        deterministic=True,
    )  # fmt: skip
    return module.Transformer, (config,), {}


def _imagenet(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    module = load("models")
    return module.ResNet, (), {"stage_sizes": [1, 1], "block_cls": module.ResNetBlock, "num_classes": 5}


def _vit(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("ml_collections").ConfigDict
    return load("vit_jax.models_vit").VisionTransformer, (), {
        "num_classes": 5, "patches": config({"size": (8, 8)}), "hidden_size": 16,
        "transformer": {"mlp_dim": 32, "num_heads": 2, "num_layers": 2},
    }  # fmt: skip


def _mixer(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("ml_collections").ConfigDict
    return load("vit_jax.models_mixer").MlpMixer, (), {
        "patches": config({"size": (8, 8)}), "num_classes": 5, "num_blocks": 2, "hidden_dim": 16, "tokens_mlp_dim": 16,
        "channels_mlp_dim": 32,
    }  # fmt: skip


def _big_vision(**more: Any) -> Build:
    def build(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        keywords = {"width": 16, "depth": 2, "num_heads": 2, "patch_size": (8, 8), **more}
        return load("big_vision.models.vit").Model, (5,), keywords

    return build


def _t5x(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    module = load("t5x.examples.t5.network")
    config = module.T5Config(
        vocab_size=32, emb_dim=16, num_heads=2, num_encoder_layers=2, num_decoder_layers=2, head_dim=8, mlp_dim=32,
        dtype="float32",
    )  # fmt: skip
    return module.Transformer, (config,), {}


def _llama(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    module = load("EasyLM.models.llama.llama_model")
    config = load("transformers").PretrainedConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        vocab_size=32, initializer_range=0.02, rms_norm_eps=1e-6, max_position_embeddings=16, rope_theta=1e4,
        embedding_dropout=0.0, feedforward_dropout=0.0, attention_dropout=0.0, residue_dropout=0.0,
        remat_policy="nothing_saveable", scan_attention=False, scan_mlp=False, scan_query_chunk_size=8,
        scan_key_chunk_size=8, scan_mlp_chunk_size=8, fcm_min_ratio=0.0, fcm_max_ratio=0.0,
    )  # fmt: skip
    return module.FlaxLLaMAForCausalLMModule, (config,), {}


def _s5(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    import numpy as np

    init = load("s5.ssm_init")
    eigen, _, _, v, _ = init.make_DPLR_HiPPO(4)
    ssm = load("s5.ssm").init_S5SSM(
        H=6, P=4, Lambda_re_init=np.real(eigen), Lambda_im_init=np.imag(eigen), V=v, Vinv=v.conj().T,
        C_init="trunc_standard_normal", discretization="zoh", dt_min=0.001, dt_max=0.1, conj_sym=False, clip_eigs=False,
        bidirectional=False,
    )  # fmt: skip
    keywords = {"ssm": ssm, "d_output": 5, "d_model": 6, "n_layers": 2, "padded": False, "training": False}
    return load("s5.seq_model").BatchClassificationModel, (), keywords


def _vqgan(load: Load) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    config = load("vqgan_jax.configuration_vqgan").VQGANConfig(
        ch=32,
        ch_mult=(1, 2),
        num_res_blocks=1,
        attn_resolutions=(8,),
        resolution=16,
        z_channels=8,
        embed_dim=8,
        n_embed=16,
    )
    return load("vqgan_jax.modeling_flax_vqgan").VQModule, (config,), {}


# Imported by the packages beside what is run here; stubbed where not installed.
SB3 = ("torch", "gymnasium", "stable_baselines3", "tensorflow_probability", "distrax", "rich.progress")
TF = (
    "tensorflow", "tensorflow_datasets", "tensorflow_text", "tensorflow_hub", "tensorflow_io", "tensorboard", "clu",
    "flaxformer", "seqio", "gfile", "mlxu", "ringattention", "scalax", "tux", "wandb", "airio", "gin", "panopticapi",
    "jestimator", "overrides", "sentencepiece", "torch", "datasets", "grain", "cached_property",
)  # fmt: skip
BRAX = (
    "mujoco", "jaxopt", "trimesh", "pytinyrenderer", "flask", "flask_cors", "tensorboardX", "dm_env", "gym", "mediapy",
)  # fmt: skip
SCICO = (
    "imageio", "svmbir", "astra", "bm3d", "bm4d", "colour_demosaicing", "xdesign", "h5py", "xarray", "matplotlib",
    "mpl_toolkits", "typeguard", "tifffile", "ray",
)  # fmt: skip
CASES: tuple[Case, ...] = (
    Case("transformers.FlaxBertModule", "transformers", _bert, ("i:2,8", "t:2,8", "p:2,8", "m:2,8", "n:2,2")),
    Case("transformers.FlaxGPT2LMHeadModule", "transformers", _gpt2, ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxBartModule", "transformers", _bart, ("i:2,8", "m:2,8", "i:2,8", "m:2,8", "p:2,8", "p:2,8")),
    Case("transformers.FlaxCLIPVisionModule", "transformers", _clip_vision, ("2,16,16,3",)),
    Case("transformers.FlaxBertForMaskedLMModule", "transformers",
         _hf("bert", "BertConfig", "FlaxBertForMaskedLMModule", **_ENCODER), ("i:2,8", "m:2,8", "t:2,8", "p:2,8", "n:2,2")),
    Case("transformers.FlaxRobertaForSequenceClassificationModule", "transformers",
         _hf("roberta", "RobertaConfig", "FlaxRobertaForSequenceClassificationModule", **_ENCODER),
         ("i:2,8", "m:2,8", "t:2,8", "p:2,8", "n:2,2")),
    Case("transformers.FlaxElectraForMaskedLMModule", "transformers",
         _hf("electra", "ElectraConfig", "FlaxElectraForMaskedLMModule", embedding_size=8, **_ENCODER),
         ("i:2,8", "m:2,8", "t:2,8", "p:2,8", "n:2,2")),
    Case("transformers.FlaxDistilBertForMaskedLMModule", "transformers",
         _hf("distilbert", "DistilBertConfig", "FlaxDistilBertForMaskedLMModule", dim=16, n_layers=2, n_heads=2,
             hidden_dim=32, vocab_size=32, max_position_embeddings=16), ("i:2,8", "m:2,8")),
    Case("transformers.FlaxAlbertForMaskedLMModule", "transformers",
         _hf("albert", "AlbertConfig", "FlaxAlbertForMaskedLMModule", embedding_size=8, **_ENCODER),
         ("i:2,8", "m:2,8", "t:2,8", "p:2,8")),
    Case("transformers.FlaxLlamaForCausalLMModule", "transformers",
         _hf("llama", "LlamaConfig", "FlaxLlamaForCausalLMModule", **_ENCODER), ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxMistralForCausalLMModule", "transformers",
         _hf("mistral", "MistralConfig", "FlaxMistralForCausalLMModule", num_key_value_heads=1, **_ENCODER),
         ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxGemmaForCausalLMModule", "transformers",
         _hf("gemma", "GemmaConfig", "FlaxGemmaForCausalLMModule", head_dim=8, num_key_value_heads=1, **_ENCODER),
         ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxGPTNeoForCausalLMModule", "transformers",
         _hf("gpt_neo", "GPTNeoConfig", "FlaxGPTNeoForCausalLMModule", hidden_size=16, num_layers=2, num_heads=2,
             attention_types=[[["global", "local"], 1]], vocab_size=32, max_position_embeddings=16, window_size=4),
         ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxGPTJForCausalLMModule", "transformers",
         _hf("gptj", "GPTJConfig", "FlaxGPTJForCausalLMModule", n_embd=16, n_layer=2, n_head=2, rotary_dim=4, vocab_size=32,
             n_positions=16), ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxBloomForCausalLMModule", "transformers",
         _hf("bloom", "BloomConfig", "FlaxBloomForCausalLMModule", hidden_size=16, n_layer=2, n_head=2, vocab_size=32),
         ("i:2,8", "m:2,8")),
    Case("transformers.FlaxOPTForCausalLMModule", "transformers",
         _hf("opt", "OPTConfig", "FlaxOPTForCausalLMModule", ffn_dim=32, word_embed_proj_dim=16,
             **{k: v for k, v in _ENCODER.items() if k != "intermediate_size"}), ("i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxViTForImageClassificationModule", "transformers",
         _hf("vit", "ViTConfig", "FlaxViTForImageClassificationModule", **_VISION), ("2,16,16,3",)),
    Case("transformers.FlaxBeitModule", "transformers",
         _hf("beit", "BeitConfig", "FlaxBeitModule", **{k: v for k, v in _VISION.items() if k != "pooler_output_size"}),
         ("2,16,16,3",)),
    Case("transformers.FlaxResNetModule", "transformers",
         _hf("resnet", "ResNetConfig", "FlaxResNetModule", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2]),
         ("2,32,32,3",), {"deterministic": True}),
    Case("transformers.FlaxRegNetModule", "transformers",
         _hf("regnet", "RegNetConfig", "FlaxRegNetModule", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2],
             groups_width=4), ("2,32,32,3",), {"deterministic": True}),
    Case("transformers.FlaxWhisperForConditionalGenerationModule", "transformers",
         _hf("whisper", "WhisperConfig", "FlaxWhisperForConditionalGenerationModule", num_mel_bins=8,
             max_source_positions=16, max_target_positions=16,
             decoder_start_token_id=1, eos_token_id=2, bos_token_id=3, suppress_tokens=None,
             begin_suppress_tokens=None, **{k: v for k, v in _SEQ2SEQ.items() if k != "max_position_embeddings"}),
         ("2,8,32", "i:2,8", "m:2,8", "p:2,8")),
    Case("transformers.FlaxMarianMTModule", "transformers",
         _hf("marian", "MarianConfig", "FlaxMarianMTModule", **_SEQ2SEQ),
         ("i:2,8", "m:2,8", "i:2,8", "m:2,8", "p:2,8", "p:2,8")),
    Case("transformers.FlaxT5Module", "transformers",
         _hf("t5", "T5Config", "FlaxT5Module", d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, vocab_size=32),
         ("i:2,8", "m:2,8", "i:2,8", "m:2,8")),
    Case("diffusers.FlaxUNet2DConditionModel", "diffusers", _unet_condition, ("2,4,8,8", "i:2", "2,6,16")),
    Case("sbx.VectorCritic", "sbx_rl", _critic, ("4,6", "4,2"), stubs=SB3),
    Case("brax.MLP", "brax", _brax, ("4,6",), stubs=BRAX),
    Case("scico.UNet", "scico", _scico, ("2,16,16,1",), call={"train": False}, stubs=SCICO),
    Case("jax_resnet.ResNet18", "jax_resnet", _resnet18, ("1,32,32,3",)),
    Case("clip_jax.CLIPVisionTransformer", "clip_jax", _clip_jax, ("2,16,16,3",), stubs=("aqt", "wandb", "datasets")),
    Case("flax.lm1b.TransformerLM", "flax", _lm1b, ("i:2,8",), subdirectory="examples/lm1b", stubs=TF),
    Case("flax.wmt.Transformer", "flax", _wmt, ("i:2,8", "i:2,8"), subdirectory="examples/wmt", stubs=TF),
    Case("flax.imagenet.ResNet", "flax", _imagenet, ("2,32,32,3",), {"train": False}, (), "examples/imagenet"),
    Case("vit.VisionTransformer", "vision_transformer", _vit, ("2,32,32,3",), call={"train": False}, stubs=TF),
    Case("vit.MlpMixer", "vision_transformer", _mixer, ("2,32,32,3",), call={"train": False}, stubs=TF),
    Case("big_vision.vit", "big_vision", _big_vision(), ("2,32,32,3",), stubs=TF),
    Case("big_vision.vit[map]", "big_vision", _big_vision(pool_type="map"), ("2,32,32,3",), stubs=TF),
    Case("big_vision.vit[scan]", "big_vision", _big_vision(scan=True), ("2,32,32,3",), stubs=TF),
    Case("t5x.Transformer", "t5x", _t5x, ("i:2,8", "i:2,8", "i:2,8"), call={"enable_dropout": False}, stubs=TF),
    Case("EasyLM.FlaxLLaMAForCausalLMModule", "EasyLM", _llama, ("i:2,8", "m:2,8", "p:2,8"), stubs=TF),
    Case("S5.BatchClassificationModel", "S5", _s5, ("2,12,4", "2,12"), stubs=TF),
    Case("vqgan.VQModule", "vqgan-jax", _vqgan, ("1,16,16,3",)),
)  # fmt: skip

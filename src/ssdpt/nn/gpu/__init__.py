"""The dual-path Transformer on fused GPU kernels (Triton), for training and for scoring."""

"""Kernels of our IR as programs of other machines. `mask`: the mask ISA; `llvm`: text by LLVM's back ends (AMD's
machines, AVX-512, PTX). Programs of AMD IL: `r600` as bundles, `il` made shorter."""

# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA toolkit's headers; the first place with cupti.h wins. Sets CUPROBE_CUDA_INCLUDES.
set(CUPROBE_CUDA_INCLUDES /usr/local/cuda/include)

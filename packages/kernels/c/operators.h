// The operators of the library, one file each.
#pragma once
#include "isa.h"
#include "ort.h"

void describe_product(Operator *op);
/** `type`: a `CacheType`. */
void describe_attention(Operator *op, int type);
void describe_embedding(Operator *op);
void describe_experts(Operator *op);
void describe_convolution(Operator *op);
void describe_delta(Operator *op);
void describe_mamba(Operator *op);

/* Training of the embedded policy with libtorch behind a C interface, so that the program opens it where torch is and
 * does without it elsewhere. All functions of a trainer are called from one thread; texts stay until the next call. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GEMMSMITH_TRAINER_ABI 4

/* ModelConfig of policy/model.h. */
typedef struct {
  int32_t words, positions, width, layers, heads, hidden;
} GemmsmithTrainerModel;

/* Rows of words, all of one length. The loss of a word counts by its weight; that of a row's first word never does. */
typedef struct {
  const int32_t* tokens; /* [rows, length] */
  const float* weights;  /* [rows, length] */
  int64_t rows, length;
} GemmsmithTrainerBatch;

/* AdamW, with gradients cut to a norm. `number` counts from 1. */
typedef struct {
  int64_t number;
  double learning_rate, beta1, beta2, epsilon, weight_decay, largest_norm;
} GemmsmithTrainerStep;

int gemmsmith_trainer_abi(void);
/* "torch 2.11.0". */
const char* gemmsmith_trainer_version(void);
/* On "cpu", "cuda:0", several separated by commas, which share the rows of each batch, or "cuda", every GPU there is;
 * all weights 0; null where that failed. Matrices are multiplied in bf16 where `in_bf16` is not 0, else in f32. */
void* gemmsmith_trainer_open(const GemmsmithTrainerModel* model, const char* device, int in_bf16);
void gemmsmith_trainer_close(void* trainer);
/* The tensors by their names in the file of weights; behind "first." and "second.", AdamW's moments. 0, or not. */
int gemmsmith_trainer_put(void* trainer, const char* name, const float* values, int64_t count);
int gemmsmith_trainer_get(void* trainer, const char* name, float* values, int64_t count);
/* One step down the mean loss of the batch, which is given back with the norm of its gradients. 0, or not. */
int gemmsmith_trainer_step(void* trainer, const GemmsmithTrainerBatch* batch, const GemmsmithTrainerStep* step,
                           double* loss, double* gradient_norm);
/* The mean loss alone. */
int gemmsmith_trainer_loss(void* trainer, const GemmsmithTrainerBatch* batch, double* loss);
/* PolicyBatch of trainer.h: `count` words drawn, row by row; `allowed_from` has one number more. The batch's weights do
 * not count. */
typedef struct {
  int64_t count;
  const int32_t *rows, *positions;
  const float *weights, *advantages, *old_logs, *reference_logs;
  const int64_t* allowed_from;
  const int32_t* allowed;
  const float* log_prior;
} GemmsmithTrainerChoices;
/* Without any `allowed`, all words are. */
typedef struct {
  double clip, kl_weight, entropy_weight;
} GemmsmithTrainerPolicy;
typedef struct {
  double loss, gradient_norm, kl, entropy, clip_fraction;
} GemmsmithTrainerPolicyResult;
/* One step of GRPO. */
int gemmsmith_trainer_policy_step(void* trainer, const GemmsmithTrainerBatch* batch,
                                  const GemmsmithTrainerChoices* choices, const GemmsmithTrainerStep* step,
                                  const GemmsmithTrainerPolicy* policy, GemmsmithTrainerPolicyResult* result);
/* Of each word drawn, among those allowed: [count]. */
int gemmsmith_trainer_log_probabilities(void* trainer, const GemmsmithTrainerBatch* batch,
                                        const GemmsmithTrainerChoices* choices, float* logs);
/* [rows, length, words], of all positions. */
int gemmsmith_trainer_logits(void* trainer, const GemmsmithTrainerBatch* batch, float* logits);
/* Words to go on behind: row i has those from `from`[i] to `from`[i + 1]. */
typedef struct {
  int64_t rows;
  const int64_t* from; /* [rows + 1] */
  const int32_t* tokens;
} GemmsmithTrainerPrompts;
/* Up to `most` words a row, to `end` at the latest. At temperature 0 the likeliest. */
typedef struct {
  int32_t most, end;
  double temperature, top_p;
  uint64_t seed;
} GemmsmithTrainerDraw;
typedef struct {
  int32_t* words;   /* [rows, most] */
  float* logs;      /* [rows, most]: log probability among all words at temperature 1 */
  int32_t* lengths; /* [rows], the end's word with them */
} GemmsmithTrainerTexts;
/* The same seed draws the same for a row, whatever stands beside it. */
int gemmsmith_trainer_sample(void* trainer, const GemmsmithTrainerPrompts* prompts, const GemmsmithTrainerDraw* draw,
                             GemmsmithTrainerTexts* texts);
/* What went wrong last. */
const char* gemmsmith_trainer_error(void);

#ifdef __cplusplus
}
#endif

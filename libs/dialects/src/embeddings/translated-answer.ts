import { countOfSome } from '../body/json-object.js';
import type { AnswerFacts, AnswerHead, Piece } from '../translation/translation.js';
import { badAnswer } from '../translation/whole-answer.js';
import type { EmbeddingsRequest } from './embeddings-dialect.js';
import { vectorIn } from './vector.js';

/** OpenAI's list of the vectors of another format, in the order of the inputs; a failure where one is missing. */
export function translatedAnswer(
  vectors: readonly unknown[] | null,
  tokens: unknown,
  { inputs, format }: EmbeddingsRequest,
  facts: AnswerFacts,
): Piece {
  const data = (vectors ?? []).map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: vectorIn(format, vector),
  }));
  if (data.length !== inputs.length || data.some(({ embedding }) => embedding === null))
    return badAnswer('the answer holds no embedding of each input.');
  const counted = countOfSome(tokens);
  const usage = counted === null ? undefined : { prompt_tokens: counted, completion_tokens: 0 };
  const { prompt_tokens = 0 } = usage === undefined ? {} : facts.believed(usage);
  const out = JSON.stringify({
    object: 'list',
    data,
    model: facts.model,
    usage: {
      prompt_tokens,
      total_tokens: prompt_tokens,
      byok_used: facts.byokUsed,
      fallback_triggered: facts.fallbackTriggered,
    },
  });
  // A provider that counts nothing leaves the estimate: a length of 0 would cost nothing.
  return { kind: 'end', out, ...(usage && { usage }) };
}

/** Returns the count that Bedrock sends beside an answer without one; null for none. */
export function tokensInHeader(head: AnswerHead | undefined): number | null {
  const count = head?.headers?.['x-amzn-bedrock-input-token-count'];
  return count === undefined ? null : countOfSome(Number(count));
}

/** The texts; null where one is a list of token ids, which only who made the tokenizer takes. */
export function textsOf({ inputs }: EmbeddingsRequest): readonly string[] | null {
  return inputs.every((input) => typeof input === 'string') ? inputs : null;
}

/** `input_type` of the body, an extension: what the vector is for. */
export function purposeOf({ body }: EmbeddingsRequest): string | null {
  const { input_type } = body.value;
  return typeof input_type === 'string' ? input_type : null;
}

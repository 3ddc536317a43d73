import type { UnitUsage } from '@gateway/contracts';
import type { AnswerFacts } from '../dialect.js';
import { objectAt, type JsonObject } from './json.js';
import { nativeUsage } from './usage.js';

/** A native message with the gateway's model and usage; blocks and members we do not know stay as they are. */
export function editAnswer(answer: JsonObject, usage: UnitUsage, facts: AnswerFacts): JsonObject {
  answer.model = facts.model;
  answer.usage = nativeUsage(objectAt(answer, 'usage'), usage, facts);
  return answer;
}

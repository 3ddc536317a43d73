import type { UnitUsage } from '@gateway/contracts';
import type { AnswerFacts } from '../dialect.js';
import type { ModelEvent } from '../model-event.js';
import { idSeed, sourcesOf, startOf } from './answer-decoder.js';
import { answerHead } from './answer-head.js';
import { ChoiceDecoder } from './choice-decoder.js';
import { FoldedChoice } from './fold.js';
import { objectOf, objectsOf, type JsonObject } from './json-object.js';
import { unknownOfAnswer, unknownOfChoice, unknownOfMessage } from './unknown-members.js';
import { chatUsage, reportedUsage } from './usage.js';

/**
 * A plain answer of a provider that speaks the caller's dialect: the gateway's own members are written anew from the
 * events of the same answer, all others stay. Who serves and what it costs the gateway are taken out.
 */
export function editAnswer(answer: JsonObject, usage: UnitUsage, facts: AnswerFacts): JsonObject {
  const start = startOf(answer);
  const { id, created, model, ...tier } = answerHead(start, facts);
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: objectsOf(answer.choices).map((choice, position) => {
      const index = typeof choice.index === 'number' ? choice.index : position;
      const decoder = new ChoiceDecoder(
        index,
        () => idSeed(start),
        (name) => name,
      );
      return editChoice(choice, sourcesOf(answer), { index, decoder, facts });
    }),
    usage: chatUsage(usage, reportedUsage(answer) ?? {}, facts),
    ...tier,
    ...unknownOfAnswer(answer),
  };
}

function editChoice(
  choice: JsonObject,
  sources: unknown[],
  { index, decoder, facts }: { index: number; decoder: ChoiceDecoder; facts: AnswerFacts },
): JsonObject {
  const events: ModelEvent[] = [];
  const message = objectOf(choice.message);
  for (const source of sources) decoder.citation(source, events);
  decoder.read(choice, message, events);
  decoder.derivedFinish(events);
  const folded = new FoldedChoice(index, facts);
  for (const event of events) folded.add(event);
  const edited = folded.toJson();
  const own = objectOf(edited.message);
  for (const [call, extras] of decoder.tools.extras)
    Object.assign(objectsOf(own.tool_calls)[call] ?? {}, extras);
  return {
    ...edited,
    message: { ...own, ...unknownOfMessage(message, facts.excludeReasoning) },
    ...unknownOfChoice(choice),
  };
}

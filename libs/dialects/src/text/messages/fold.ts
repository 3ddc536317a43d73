import { isObject, type JsonObject } from '../../body/json-object.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import type { ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';
import { AnswerWriter } from './answer-writer.js';
import { objectAt, objectsAt, textAt } from './json.js';

/**
 * The input that the fragments spell. Arguments that are no JSON object (a cut answer, a model's slip) stay visible
 * under a name that no tool has: {} would be a valid call of another meaning.
 */
function inputOf(fragments: string): JsonObject {
  const input = spelledJsonOf(fragments === '' ? '{}' : fragments);
  return isObject(input) ? input : { raw_arguments: fragments };
}

class MessageBuilder {
  message: JsonObject = {};
  private readonly content: JsonObject[] = [];
  private fragments = '';

  take(event: JsonObject): void {
    const block = this.content.at(-1);
    switch (event.type) {
      case 'message_start':
        this.message = { ...objectAt(event, 'message'), content: this.content };
        return;
      case 'content_block_start':
        this.fragments = '';
        this.content.push({ ...objectAt(event, 'content_block') });
        return;
      case 'content_block_delta':
        if (block) this.grow(block, objectAt(event, 'delta'));
        return;
      case 'content_block_stop':
        if (block?.type === 'tool_use') block.input = inputOf(this.fragments);
        return;
      case 'message_delta':
        Object.assign(this.message, event.delta, { usage: event.usage });
    }
  }

  private grow(block: JsonObject, delta: JsonObject): void {
    switch (delta.type) {
      case 'text_delta':
        block.text = textAt(block, 'text') + textAt(delta, 'text');
        return;
      case 'thinking_delta':
        block.thinking = textAt(block, 'thinking') + textAt(delta, 'thinking');
        return;
      case 'signature_delta':
        block.signature = delta.signature;
        return;
      case 'citations_delta':
        block.citations = [...objectsAt(block, 'citations'), delta.citation];
        return;
      case 'input_json_delta':
        this.fragments += textAt(delta, 'partial_json');
    }
  }
}

/** The plain message: what a client would build of the stream of the same events. */
export function fold(events: Iterable<ModelEvent>, facts: TextFacts): JsonObject {
  const writer = new AnswerWriter(facts);
  const builder = new MessageBuilder();
  for (const event of events) for (const object of writer.write(event)) builder.take(object);
  return builder.message;
}

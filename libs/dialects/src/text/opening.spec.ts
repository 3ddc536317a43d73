import type { ModelEvent } from './model-event.js';
import { isOpening } from './opening.js';

const start: ModelEvent = {
  ...{ type: 'start', id: 'a', created: 1, systemFingerprint: null, serviceTier: null },
};
const text = (words: string): ModelEvent => ({ type: 'text', choice: 0, text: words });
const usage = (more = {}): ModelEvent => ({ type: 'usage', usage: { prompt_tokens: 3, ...more }, raw: {} });
const opens = (...events: ModelEvent[]): boolean => isOpening({ events, raw: null, source: null });
/** A frame that has no meaning in the middle form. */
const bare = (raw: Record<string, unknown>): boolean => isOpening({ events: [], raw, source: null });

describe('a frame that only opens an answer', () => {
  it.each<[string, ModelEvent[]]>([
    ['nothing', []],
    ['a start (message_start, response.created, messageStart, a role)', [start]],
    ['a ping', [{ type: 'ping' }]],
    ['a usage alone', [usage()]],
    ['an empty delta', [start, text('')]],
  ])('%s is one', (_name, events) => {
    expect(opens(...events)).toBe(true);
  });

  it.each<[string, ModelEvent]>([
    ['words', text('Hi')],
    ['a refusal', { type: 'refusal', choice: 0, text: 'No' }],
    ['reasoning', { type: 'reasoning', choice: 0, text: 'Hm', format: 'f' }],
    ['a call', { type: 'tool_start', choice: 0, call: 0, id: 'c', name: 'look', custom: false }],
    ['a finish', { type: 'finish', choice: 0, reason: 'stop', native: null, stopSequence: null }],
    ['the end', { type: 'end' }],
    ['a search that the provider ran', usage({ tool_calls: { web_search: 1 } })],
  ])('%s is none', (_name, event) => {
    expect(opens(start, event)).toBe(false);
  });

  it.each<[string, Record<string, unknown>]>([
    ['an empty block', { type: 'content_block_start', content_block: { type: 'text', text: '' } }],
    ['an empty item', { type: 'response.output_item.added', item: { type: 'message', content: [] } }],
    ['an empty part', { type: 'response.content_part.added', part: { type: 'output_text', text: '' } }],
    ['what a filter of the host found', { choices: [], prompt_filter_results: [{}] }],
  ])('%s is one', (_name, raw) => {
    expect(bare(raw)).toBe(true);
  });

  it.each<[string, Record<string, unknown>]>([
    [
      'code that the provider runs',
      { type: 'content_block_start', content_block: { type: 'server_tool_use' } },
    ],
    ['a search', { type: 'response.web_search_call.searching' }],
    [
      'an item that is a picture',
      { type: 'response.output_item.added', item: { type: 'image_generation_call' } },
    ],
    ['a delta that nobody knows', { type: 'response.melody.delta', delta: 'la' }],
  ])('%s is none', (_name, raw) => {
    expect(bare(raw)).toBe(false);
  });
});

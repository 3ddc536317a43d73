import { spellBody, writeJson } from '@gateway/json-body';
import { filled, isForeignReasoningItem, isObject } from '@gateway/dialects';
import type { Asked, EndpointState } from '../endpoint.js';
import type { ModelRequest } from '@gateway/dialects';

type Json = Record<string, unknown>;

/** Builds the state that requests to /v1/responses leave for later requests that continue them. */
export function responsesState(
  read: (bytes: Uint8Array) => Asked<ModelRequest>,
): EndpointState<ModelRequest> {
  return {
    link: ({ request }) => {
      const { previous_response_id: previous, conversation } = request.body.value;
      const response_id = filled(previous);
      if (response_id !== null) return { link: { response_id }, param: 'previous_response_id' };
      const conversation_id = conversationOf(conversation);
      return conversation_id === null ? null : { link: { conversation_id }, param: 'conversation' };
    },
    references: ({ request }) => {
      const { input } = request.body.value;
      if (!Array.isArray(input)) return [];
      return input.flatMap((item, at) => {
        const id = isObject(item) && item.type === 'item_reference' ? filled(item.id) : null;
        return id === null ? [] : [{ id, param: `input.${at}.id` }];
      });
    },
    resolved: ({ request }, items) => {
      spellBody(request.body);
      const { value } = request.body;
      const input = ownItems(value.input).map((item) =>
        item.type === 'item_reference' ? (items.get(String(item.id)) ?? item) : item,
      );
      return read(Buffer.from(writeJson({ ...value, input })));
    },
    recalled: ({ request }, items, isOwn) => {
      spellBody(request.body);
      const { value } = request.body;
      const own = ownItems(value.input);
      const said = withoutHalfCalls(items, own);
      // What a provider encrypted or keeps for itself is refused by every other.
      const kept = isOwn
        ? said
        : said.filter((item) => item.type !== 'reasoning' || isForeignReasoningItem(item));
      const input = [...kept, ...own];
      return read(Buffer.from(writeJson({ ...value, input })));
    },
    storedRequest: ({ request }) => {
      spellBody(request.body);
      const { value } = request.body;
      return {
        isStored: value.store !== false,
        input: ownItems(value.input),
        previous_response_id: filled(value.previous_response_id),
        conversation_id: conversationOf(value.conversation),
      };
    },
  };
}

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);
const OUTPUTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);

/**
 * Returns the items without the calls within which an answer was cut: nobody can run half of one, and no upstream takes
 * it unanswered. The reasoning before such a call is left out with it, because providers refuse the one without the
 * other.
 */
function withoutHalfCalls(items: readonly Json[], own: readonly Json[]): readonly Json[] {
  const isAnswered = (id: unknown): boolean =>
    [...items, ...own].some(({ type, call_id }) => OUTPUTS.has(type) && call_id === id);
  const isHalf = ({ type, status, call_id }: Json): boolean =>
    CALLS.has(type) && status === 'incomplete' && !isAnswered(call_id);
  if (!items.some(isHalf)) return items;
  const kept: Json[] = [];
  for (const item of items) {
    if (!isHalf(item)) kept.push(item);
    else while (kept.at(-1)?.type === 'reasoning') kept.pop();
  }
  return kept;
}

function conversationOf(conversation: unknown): string | null {
  return filled(isObject(conversation) ? conversation.id : conversation);
}

/** The input as items; a text is a message of the user. */
function ownItems(input: unknown): Json[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return Array.isArray(input) ? input.filter(isObject) : [];
}

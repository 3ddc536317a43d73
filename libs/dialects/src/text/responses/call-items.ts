import { textOf, type JsonObject } from '../../body/json-object.js';
import type { ModelEvent } from '../model-event.js';
import type { ModelRequest } from '../model-request.js';
import { ObjectEnd } from '../object-end.js';
import { clientTools } from './tools.js';

type ToolStart = Extract<ModelEvent, { type: 'tool_start' }>;

interface OpenCall {
  index: number;
  id: string;
  start: ToolStart;
  text: string;
  arguments: ObjectEnd;
}

/** Calls of an answer as items of its output. Several may be open at once: each has its own place. */
export class CallItems {
  private readonly open = new Map<number, OpenCall>();
  private readonly ended: OpenCall[] = [];

  constructor(
    private readonly request: ModelRequest,
    private readonly output: JsonObject[],
    private readonly newId: (prefix: string) => string,
  ) {}

  start(start: ToolStart): JsonObject[] {
    const call = {
      id: this.newId(start.custom ? 'ctc' : 'fc'),
      index: this.output.length,
      start,
      text: '',
      arguments: new ObjectEnd(),
    };
    this.output.push({});
    this.open.set(start.call, call);
    const item = this.item(call, 'in_progress');
    return [{ type: 'response.output_item.added', output_index: call.index, item }];
  }

  arguments(number: number, text: string): JsonObject[] {
    const call = this.open.get(number);
    if (!call || text === '') return [];
    call.text += text;
    call.arguments.add(text);
    const type = `response.${wordsOf(call).event}.delta`;
    return [{ type, item_id: call.id, output_index: call.index, delta: text }];
  }

  /** A call whose arguments are not whole is written once what follows has said whether the answer was cut there. */
  end(number: number): JsonObject[] {
    const call = this.open.get(number);
    if (!call) return [];
    this.open.delete(number);
    if (call.arguments.isWhole) return this.done(call, 'completed');
    this.ended.push(call);
    return [];
  }

  /** The answer goes on: calls that have ended are as the model wanted them. */
  goOn(): JsonObject[] {
    if (this.ended.length === 0) return [];
    return this.ended.splice(0).flatMap((call) => this.done(call, 'completed'));
  }

  /** Ends the calls whose arguments are whole; fragments of the others may come yet. */
  endWhole(): JsonObject[] {
    return [...this.open].flatMap(([number, call]) => (call.arguments.isWhole ? this.end(number) : []));
  }

  endAll(isCut: boolean): JsonObject[] {
    const calls = [...this.ended.splice(0), ...this.open.values()];
    this.open.clear();
    return calls.flatMap((call) =>
      this.done(call, isCut && !call.arguments.isWhole ? 'incomplete' : 'completed'),
    );
  }

  private done(call: OpenCall, status: 'completed' | 'incomplete'): JsonObject[] {
    // An object without members, as a call without arguments is written here.
    if (!call.start.custom && call.text.trim() === '') call.text = '{}';
    const item = this.item(call, status);
    this.output[call.index] = item;
    const { event, member } = wordsOf(call);
    return [
      { type: `response.${event}.done`, item_id: call.id, output_index: call.index, [member]: call.text },
      { type: 'response.output_item.done', output_index: call.index, item },
    ];
  }

  private item(call: OpenCall, status: string): JsonObject {
    const { start, id, text } = call;
    const { member, type } = wordsOf(call);
    const named = clientTools(this.request.body.value.tools).find(({ name }) => name === start.name);
    const names =
      named?.namespace == null
        ? { name: start.name }
        : { name: textOf(named.tool.name), namespace: named.namespace };
    return { id, type, status, [member]: text, call_id: start.id, ...names };
  }
}

function wordsOf({ start }: OpenCall): { type: string; event: string; member: string } {
  return start.custom
    ? { type: 'custom_tool_call', event: 'custom_tool_call_input', member: 'input' }
    : { type: 'function_call', event: 'function_call_arguments', member: 'arguments' };
}

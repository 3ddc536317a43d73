import { objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';

/** Calls of one message, and those that are remembered for their results. */
export const CALLS_MAX = 256;
/** Each becomes an event: a message of two bytes a part would be hundreds of megabytes of them. */
const PARTS_MAX = 1_024;
const NAME_LENGTH_MAX = 512;
/** No answer, and nothing that is said, comes near. */
const TEXT_LENGTH_MAX = 1_048_576;

/** Returns true if a message can be one of the provider: not so many parts or calls, no such names. */
export function isPossible({ serverContent, toolCall }: JsonObject): boolean {
  const { parts } = objectOf(objectOf(serverContent).modelTurn);
  const { functionCalls } = objectOf(toolCall);
  if (Array.isArray(parts) && parts.length > PARTS_MAX) return false;
  if (!Array.isArray(functionCalls)) return true;
  const isNamed = ({ id, name }: JsonObject): boolean => [id, name].every(isName);
  return functionCalls.length <= CALLS_MAX && objectsOf(functionCalls).every(isNamed);
}

function isName(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.length <= NAME_LENGTH_MAX);
}

/** A text as it grows. What comes past the bound was sent on in its turn, and is in no sum. */
export function grown(text: string, more: string): string {
  return text.length + more.length > TEXT_LENGTH_MAX ? text : text + more;
}

/** Values with the sum of their lengths as JSON, which is bounded. */
export class Held {
  private values: JsonObject[] = [];
  private sum = 0;

  constructor(
    private readonly countMax: number,
    private readonly lengthMax: number,
  ) {}

  get length(): number {
    return this.sum;
  }

  /** False where the bound is reached. */
  add(value: JsonObject): boolean {
    const length = lengthOf(value);
    if (this.values.length >= this.countMax || this.sum + length > this.lengthMax) return false;
    this.values.push(value);
    this.sum += length;
    return true;
  }

  take(): JsonObject[] {
    const taken = this.values;
    [this.values, this.sum] = [[], 0];
    return taken;
  }
}

export function lengthOf(value: JsonObject): number {
  return JSON.stringify(value).length;
}

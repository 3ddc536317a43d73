import type { Dice } from './dice.js';
import type { Schema, Schemas } from './operations.js';

/** Values that mean something to the gateway under test, by the name of a member or parameter. */
export type Words = Readonly<Record<string, readonly unknown[]>>;

const DEEPEST = 7;
const TEXTS = ['Hello there', 'x', 'sk', 'usr_1', 'org_1', '2026-01-01', '2026-01-01T00:00:00Z', '0', '12.5'];
const NAMES = ['simulator/chat', 'simulator/*', 'simulated', 'created_at', '-label', 'rsk_0', 'a-b', 'f'];

/** A value that fits a schema, mostly: the constraints that matter are the ones that let a request through. */
export function validValue(schema: Schema, dice: Dice, schemas: Schemas, words: Words): unknown {
  return new ValueMaker(dice, schemas, words).make(schema, '', 0);
}

class ValueMaker {
  constructor(
    private readonly dice: Dice,
    private readonly schemas: Schemas,
    private readonly words: Words,
  ) {}

  make(schema: Schema, name: string, depth: number): unknown {
    if (typeof schema.$ref === 'string') {
      const referred = this.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
      return this.make(referred, name, depth);
    }
    if ('const' in schema) return schema.const;
    const known = this.words[name];
    if (known !== undefined && this.dice.chance(0.8)) return this.dice.pick(known);
    if (Array.isArray(schema.enum)) return this.dice.pick(schema.enum as unknown[]);
    const choices = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
    if (choices !== undefined) {
      const { oneOf: _one, anyOf: _any, ...rest } = schema;
      return this.make(merged(rest, this.dice.pick(choices)), name, depth);
    }
    return this.ofType(schema, name, depth);
  }

  private ofType(schema: Schema, name: string, depth: number): unknown {
    switch (this.typeOf(schema)) {
      case 'object':
        return this.object(schema, depth);
      case 'array':
        return this.array(schema, name, depth);
      case 'string':
        return this.text(schema);
      case 'integer':
        return Math.floor(this.number(schema));
      case 'number':
        return this.number(schema);
      case 'boolean':
        return this.dice.chance(0.5);
      case 'null':
        return null;
      default:
        return this.dice.pick(TEXTS);
    }
  }

  private typeOf({ type, properties, items }: Schema): string {
    if (typeof type === 'string') return type;
    if (Array.isArray(type)) {
      const types = (type as string[]).filter((one) => one !== 'null');
      return this.dice.chance(0.1) || types.length === 0 ? 'null' : this.dice.pick(types);
    }
    return properties !== undefined ? 'object' : items !== undefined ? 'array' : 'any';
  }

  private object(schema: Schema, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    const required = new Set(schema.required as string[] | undefined);
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    const share = depth === 0 ? 0.15 : 0.3;
    for (const [name, member] of properties) {
      if (!required.has(name) && (depth >= DEEPEST || !this.dice.chance(share))) continue;
      made[name] = this.make(member, name, depth + 1);
    }
    return made;
  }

  private array(schema: Schema, name: string, depth: number): unknown[] {
    const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
    const count = depth >= DEEPEST ? least : Math.max(least, this.dice.below(4));
    const items = (schema.items ?? {}) as Schema;
    return Array.from({ length: count }, () => this.make(items, name, depth + 1));
  }

  private text({ pattern, minLength = 0, maxLength = 100 }: Schema): string {
    const fits = typeof pattern === 'string' ? new RegExp(pattern, 'u') : null;
    const texts = [...TEXTS, ...NAMES].filter((text) => fits === null || fits.test(text));
    const text = texts.length === 0 ? 'x' : this.dice.pick(texts);
    return text.padEnd(Math.min(Number(minLength), 1_000), 'x').slice(0, Number(maxLength));
  }

  private number({ minimum, maximum, exclusiveMinimum }: Schema): number {
    const low = Number(minimum ?? exclusiveMinimum ?? 0);
    const high = Math.min(Number(maximum ?? 200), low + 10_000);
    return this.dice.pick([low, high, low + (high - low) / 2, Math.min(low + 1, high)]);
  }
}

function merged(base: Schema, choice: Schema): Schema {
  return {
    ...base,
    ...choice,
    ...(base.properties || choice.properties
      ? { properties: { ...(base.properties as Schema), ...(choice.properties as Schema) } }
      : {}),
    ...(base.required || choice.required
      ? { required: [...((base.required ?? []) as string[]), ...((choice.required ?? []) as string[])] }
      : {}),
  };
}

import ts from 'typescript';
import type { Schema } from './class-schemas.js';

const REF = '#/components/schemas/';

/** JSON Schemas of the types that handlers answer with. Interfaces and classes get a name, all else stands where it is used. */
export class TypeSchemas {
  private readonly found = new Map<string, { symbol: ts.Symbol; schema: Schema }>();

  constructor(private readonly checker: ts.TypeChecker) {}

  /** Null for nothing at all. */
  answer(types: readonly ts.Type[]): Schema | null {
    const parts = types.flatMap(membersOf).filter((part) => !isNothing(part));
    return parts.length === 0 ? null : this.union(parts);
  }

  /** The members of a type where it is used, by whatever name it goes. */
  inline(type: ts.Type): Schema {
    return this.fields(type);
  }

  named(): ReadonlyMap<string, Schema> {
    return new Map([...this.found].map(([name, { schema }]) => [name, schema]));
  }

  private union(parts: readonly ts.Type[]): Schema {
    const isNullable = parts.some((part) => (part.flags & ts.TypeFlags.Null) !== 0);
    const rest = parts.filter((part) => (part.flags & ts.TypeFlags.Null) === 0);
    const schemas = distinct([...literals(rest), ...rest.filter(isNoLiteral).map((part) => this.one(part))]);
    if (!isNullable) return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
    if (schemas.length === 0) return { type: 'null' };
    const [only] = schemas;
    if (schemas.length > 1 || only.type === undefined)
      return { anyOf: [...schemas.flatMap(unwrapped), { type: 'null' }] };
    const { enum: values } = only;
    return {
      ...only,
      type: [only.type, 'null'].flat(),
      ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
    };
  }

  private one(type: ts.Type): Schema {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.StringLike) return { type: 'string' };
    if (flags & ts.TypeFlags.NumberLike) return { type: 'number' };
    if (flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' };
    if (flags & ts.TypeFlags.Object) return this.object(type as ts.ObjectType);
    if (type.isIntersection()) return isText(type) ? { type: 'string' } : this.fields(type);
    if (flags & ts.TypeFlags.NonPrimitive) return { type: 'object' };
    throw new Error(`An answer holds ${this.checker.typeToString(type)}, which JSON cannot.`);
  }

  private object(type: ts.ObjectType): Schema {
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      const items = this.checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', items: this.union(items.flatMap(membersOf)) };
    }
    const name = this.nameOf(type);
    if (name === 'Date') return { type: 'string', format: 'date-time' };
    if (name === null) return this.fields(type);
    this.keep(name, type);
    return { $ref: `${REF}${name}` };
  }

  private keep(name: string, type: ts.ObjectType): void {
    const known = this.found.get(name);
    if (known !== undefined && known.symbol !== type.symbol)
      throw new Error(`Two answers are named ${name}.`);
    if (known !== undefined) return;
    this.found.set(name, { symbol: type.symbol, schema: {} });
    const description = this.commentOf(type.symbol);
    this.found.set(name, { symbol: type.symbol, schema: { ...this.fields(type), ...description } });
  }

  /** `CursorPage<TeamRecord>` is CursorPageOfTeamRecord. Null for what has no name of its own. */
  private nameOf(type: ts.ObjectType): string | null {
    const { symbol } = type;
    if ((symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) === 0) return null;
    const given = this.checker.getTypeArguments(type as ts.TypeReference);
    const own = (type as ts.TypeReference).target === undefined ? [] : given;
    const names = own.filter((argument) => !isThisType(argument)).map((argument) => argument.symbol.name);
    return [symbol.name, ...names].join('Of');
  }

  private fields(type: ts.Type): Schema {
    const fields = this.checker.getPropertiesOfType(type).filter((field) => !isMethod(field));
    const others = this.checker.getIndexInfoOfType(type, ts.IndexKind.String);
    const patterns = this.checker.getIndexInfosOfType(type).flatMap((info) => this.pattern(info));
    const required = fields.filter((field) => !isOptional(field)).map(({ name }) => name);
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(fields.length === 0
        ? {}
        : { properties: Object.fromEntries(fields.map((field) => [field.name, this.field(field)])) }),
      ...(others === undefined || fields.length > 0
        ? {}
        : { additionalProperties: this.union(membersOf(others.type)) }),
      ...(patterns.length === 0 ? {} : { patternProperties: Object.fromEntries(patterns) }),
    };
  }

  /** Returns the pattern of names that begin alike, as `supports_${string}`. */
  private pattern({ keyType, type }: ts.IndexInfo): [string, Schema][] {
    if ((keyType.flags & ts.TypeFlags.TemplateLiteral) === 0) return [];
    return [[`^${(keyType as ts.TemplateLiteralType).texts[0]}`, this.union(membersOf(type))]];
  }

  private field(field: ts.Symbol): Schema {
    const parts = membersOf(this.checker.getTypeOfSymbol(field)).filter((part) => !isNothing(part));
    return { ...this.union(parts), ...this.commentOf(field) };
  }

  private commentOf(symbol: ts.Symbol): Schema {
    const description = oneLine(symbol.getDocumentationComment(this.checker));
    return description === '' ? {} : { description };
  }
}

/** A doc comment as one line. */
export function oneLine(comment: ts.SymbolDisplayPart[]): string {
  return ts
    .displayPartsToString(comment)
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
}

function membersOf(type: ts.Type): ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

function isNothing({ flags }: ts.Type): boolean {
  return (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never)) !== 0;
}

/** `string & {}`: a text of which some values are known. */
function isText(type: ts.IntersectionType): boolean {
  return type.types.some(({ flags }) => (flags & ts.TypeFlags.StringLike) !== 0);
}

function isThisType(type: ts.Type): boolean {
  return (type as { isThisType?: boolean }).isThisType === true;
}

function isOptional({ flags }: ts.Symbol): boolean {
  return (flags & ts.SymbolFlags.Optional) !== 0;
}

function isMethod({ flags }: ts.Symbol): boolean {
  return (flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)) !== 0;
}

const isNoLiteral = (type: ts.Type): boolean => !type.isStringLiteral() && !type.isNumberLiteral();

/** Literals as one enum of each kind, sorted: the compiler's own order follows what was read first. */
function literals(parts: readonly ts.Type[]): Schema[] {
  const texts = parts.flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
  const numbers = parts.flatMap((part) => (part.isNumberLiteral() ? [part.value] : []));
  return [
    ...(texts.length === 0 ? [] : [{ type: 'string', enum: texts.sort() }]),
    ...(numbers.length === 0 ? [] : [{ type: 'number', enum: numbers.sort((a, b) => a - b) }]),
  ];
}

/** Both booleans are one boolean. In the order of their text. */
function distinct(schemas: readonly Schema[]): Schema[] {
  const byText = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schema]) => schema);
}

function unwrapped(schema: Schema): Schema[] {
  return Array.isArray(schema.anyOf) ? (schema.anyOf as Schema[]) : [schema];
}

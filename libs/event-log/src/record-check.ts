import { getMetadataStorage } from 'class-validator';

/** The first field at fault. */
export interface RecordFault {
  field: string;
  /** True if its value is a text that this release does not know among those the contract names. */
  isUnknownValue: boolean;
}

/** Returns the first fault of a record, or null. */
export type RecordCheck = (value: unknown) => RecordFault | null;

type Test = (value: unknown) => boolean;
type Rule = Readonly<{ name?: string; type: string; constraints?: readonly unknown[]; each?: boolean }>;
type Type = new () => object;

interface FieldCheck {
  name: string;
  isOptional: boolean;
  test: Test;
  /** True if the contract names the texts that it may have; a newer release may know more of them. */
  isEnum: boolean;
}

/**
 * Compiles the class-validator rules of a record into plain tests, because validating thousands of records a second
 * through the decorators costs more than posting them.
 * `nested` names the classes of nested fields. Throws on a rule that it does not know, at the start of the process.
 */
export function compileCheck(type: Type, nested: Readonly<Record<string, Type>> = {}): RecordCheck {
  const fields = fieldChecks(type, nested);
  return (value) => {
    if (!isPlainObject(value)) return { field: 'record', isUnknownValue: false };
    for (const { name, isOptional, test, isEnum } of fields) {
      const member = value[name];
      if (isOptional && (member === null || member === undefined)) continue;
      if (!test(member)) return { field: name, isUnknownValue: isEnum && typeof member === 'string' };
    }
    return null;
  };
}

function fieldChecks(type: Type, nested: Readonly<Record<string, Type>>): FieldCheck[] {
  const byField = new Map<string, Rule[]>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
    byField.set(rule.propertyName, [...(byField.get(rule.propertyName) ?? []), rule]);
  }
  return [...byField].map(([name, rules]) => ({
    name,
    isOptional: rules.some((rule) => rule.type === 'conditionalValidation'),
    isEnum: rules.some(namesTexts),
    test: every(
      rules
        .filter((rule) => rule.type !== 'conditionalValidation')
        .map((rule) => testOf(`${type.name}.${name}`, rule, nested[name])),
    ),
  }));
}

function namesTexts({ name, constraints }: Rule): boolean {
  const [values] = constraints ?? [];
  return name === 'isIn' && Array.isArray(values) && values.some((value) => typeof value === 'string');
}

function testOf(field: string, rule: Rule, nestedType: Type | undefined): Test {
  if (rule.type === 'nestedValidation') {
    if (nestedType === undefined) throw new Error(`${field}: the class of a nested field is not named.`);
    const check = compileCheck(nestedType);
    const test: Test = (value) => check(value) === null;
    return (value) => (Array.isArray(value) ? value.every(test) : test(value));
  }
  const test = plainTestOf(field, rule);
  return rule.each === true ? (value) => Array.isArray(value) && value.every(test) : test;
}

function plainTestOf(field: string, rule: Rule): Test {
  const [constraint] = rule.constraints ?? [];
  switch (rule.name) {
    case 'isString':
      return (value) => typeof value === 'string';
    case 'isBoolean':
      return (value) => typeof value === 'boolean';
    case 'isInt':
      return Number.isSafeInteger;
    case 'isNumber':
      return Number.isFinite;
    case 'isObject':
      return isPlainObject;
    case 'isArray':
      return Array.isArray;
    case 'min':
      return (value) => typeof value === 'number' && value >= Number(constraint);
    case 'isIn':
      return (value) => Array.isArray(constraint) && constraint.includes(value);
    case 'matches':
      return (value) => typeof value === 'string' && constraint instanceof RegExp && constraint.test(value);
    default:
      throw new Error(`${field}: the rule ${rule.name ?? rule.type} is not known here.`);
  }
}

function every(tests: readonly Test[]): Test {
  return (value) => tests.every((test) => test(value));
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

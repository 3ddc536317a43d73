import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { orFileNames, valueOrFile } from './or-file.js';

/** Text of class-validator for a pattern, which helps only its author. */
const PATTERN = /must match \/.*\/\w* regular expression$/;
const DESCRIBED = 'does not have the form that .env.example describes';

/** Every fault of a configuration in one message. The process ends with status 1. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads a configuration class from an environment. Names are the class's property names; an empty value
 * counts as absent, so that `X=` in a file means the default. Values are named in no message: they may be secrets, and
 * those marked with OrFile may come from a file.
 * Throws ConfigError with all faults at once.
 */
export function loadConfig<T extends object>(
  type: new () => T,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<T> {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const unread = new Map<string, string>();
  for (const name of orFileNames(type)) {
    try {
      const value = valueOrFile(env, name);
      if (value !== undefined) present[name] = value;
    } catch (failure) {
      unread.set(name, failure instanceof Error ? failure.message : String(failure));
    }
  }
  const config = plainToInstance(type, present, { exposeDefaultValues: true });
  const errors = validateSync(config, { whitelist: true, validationError: { target: false, value: false } });
  // Of a value that could not be read its absence is no fault of its own.
  const others = errors.filter(({ property }) => !unread.has(property));
  const defaults = new type();
  const isAbsent = (name: string): boolean => !(name in present) && Reflect.get(defaults, name) === undefined;
  const faults = [...unread.values(), ...others.flatMap((error) => faultsOf(error, '', isAbsent))];
  if (faults.length > 0) throw new ConfigError(faults);
  return deepFreeze(config);
}

/** One sentence for a value that is absent or of another kind, whose bounds say nothing more. */
function faultsOf(error: ValidationError, parent: string, isAbsent: (name: string) => boolean): string[] {
  const name = `${parent}${error.property}`;
  const { constraints = {}, children = [] } = error;
  const kind = constraints.isInt ?? constraints.arrayNotEmpty;
  const texts = kind === undefined ? Object.values(constraints) : [kind];
  const said = texts.map((text) =>
    (text.startsWith(`${name} `) ? text.slice(name.length + 1) : text).replace(PATTERN, DESCRIBED),
  );
  const own = isAbsent(name) ? said.slice(0, 1).map((text) => `is required, ${text}`) : said;
  return [
    ...own.map((text) => `${name}: ${text}`),
    ...children.flatMap((child) => faultsOf(child, `${name}.`, isAbsent)),
  ];
}

function deepFreeze<T extends object>(value: T): Readonly<T> {
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) deepFreeze(member);
  }
  return Object.freeze(value);
}

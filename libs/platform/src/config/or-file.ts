import { readFileSync, statSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

/** Far above any secret or chain of certificates; a wrong path must not fill the memory. */
const FILE_BYTES_MAX = 256 * 1024;

const marked = new WeakMap<object, Set<string>>();

/** The variable may also be given as `<NAME>_FILE`, the path of a file that holds the value: for secrets. */
export function OrFile(): PropertyDecorator {
  return (target, propertyKey) => {
    const names = marked.get(target) ?? new Set();
    marked.set(target, names.add(String(propertyKey)));
  };
}

/** The variables of a configuration class that may come from a file. */
export function orFileNames(type: new () => object): string[] {
  const names: string[] = [];
  for (let target: unknown = type.prototype; isObject(target); target = Object.getPrototypeOf(target))
    names.push(...(marked.get(target) ?? []));
  return names;
}

/**
 * The value of a variable, or of the file that `<NAME>_FILE` names, without the newline at its end; undefined where
 * neither is set. It is read when this is called and never again.
 * @throws TypeError with a sentence about the variable, which names no value.
 */
export function valueOrFile(env: Environment, name: string): string | undefined {
  const [value, path] = [env[name] ?? '', env[`${name}_FILE`] ?? ''];
  if (path === '') return value === '' ? undefined : value;
  if (value !== '') throw new TypeError(`${name} and ${name}_FILE are both set: keep one of them`);
  const text = textOf(name, path).replace(/\r?\n$/, '');
  if (text === '') throw new TypeError(`${name}_FILE: ${path} is empty`);
  return text;
}

function textOf(name: string, path: string): string {
  try {
    if (statSync(path).size <= FILE_BYTES_MAX) return readFileSync(path, 'utf8');
  } catch (failure) {
    const code = isObject(failure) && 'code' in failure ? String(failure.code) : String(failure);
    throw new TypeError(`${name}_FILE: ${path} cannot be read (${code})`, { cause: failure });
  }
  throw new TypeError(`${name}_FILE: ${path} is larger than ${FILE_BYTES_MAX} bytes`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

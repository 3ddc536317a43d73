import { Transform } from 'class-transformer';

/** Environment text to a number; other text stays as it is for the validator to name. */
export function ToNumber(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string') return value;
    return value.trim() === '' ? value : Number(value);
  });
}

/** `true`, `1`, `yes`, `on` and their opposites. */
export function ToBoolean(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string') return value;
    if (/^(true|1|yes|on)$/i.test(value)) return true;
    return /^(false|0|no|off)$/i.test(value) ? false : value;
  });
}

/** Comma-separated text to a list without empty members. */
export function ToList(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string') return value;
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  });
}

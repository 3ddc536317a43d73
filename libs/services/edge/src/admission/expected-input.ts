import type { Asked } from '@gateway/endpoints';
import type { SentInput } from '@gateway/money';
import type { Plan } from '@gateway/routing';

/**
 * Returns the input sent, with the additions for an upstream of the caller's own dialect, where one of the routes has
 * it.
 */
export function expectedInput({ input, dialect, nativeBytes = 0 }: Asked, routes: Plan['routes']): SentInput {
  if (!routes.some(({ route }) => route.dialect === dialect)) return input;
  return { ...input, inputBytes: input.inputBytes + nativeBytes };
}

import type { Asked } from '@gateway/endpoints';
import type { SentInput } from '@gateway/money';
import type { Plan } from '@gateway/routing';

/** What is sent, with what an upstream of the caller's own dialect adds to it, where one of the routes is such. */
export function expectedInput({ input, dialect, nativeBytes = 0 }: Asked, routes: Plan['routes']): SentInput {
  if (!routes.some(({ route }) => route.dialect === dialect)) return input;
  return { ...input, inputBytes: input.inputBytes + nativeBytes };
}

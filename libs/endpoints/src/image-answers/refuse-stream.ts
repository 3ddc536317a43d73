import { invalidBody } from '@gateway/dialects';

/** An answer with images is read whole. */
export function refuseStream(members: Readonly<Record<string, unknown>>): void {
  const param =
    members.stream === true ? 'stream' : typeof members.partial_images === 'number' ? 'partial_images' : null;
  if (param !== null)
    throw invalidBody({ type: 'value_error', loc: [param], msg: 'images are not streamed' });
}

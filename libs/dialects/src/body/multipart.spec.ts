import fc from 'fast-check';
import { BodyFault } from '@gateway/json-body';
import { formBody, readForm, type Form } from './multipart.js';

const TYPE = 'multipart/form-data; boundary=x-1';
const file = {
  field: 'file',
  filename: 'a "b".wav',
  contentType: 'audio/wav',
  bytes: Buffer.from('\r\n--x\0\xff', 'latin1'),
};
const form: Form = {
  fields: [
    ['model', 'm'],
    ['languages[]', 'de'],
    ['languages[]', 'é'],
  ],
  files: [file],
  boundary: 'x-1',
};

function bytesOf(body: { pieces: readonly Uint8Array[] }): Buffer {
  return Buffer.concat(body.pieces);
}

function read(text: string, contentType = TYPE): Form {
  const found = readForm(Buffer.from(text, 'latin1'), contentType);
  if (found instanceof BodyFault) throw new Error(found.detail.msg);
  return found;
}

describe('a form', () => {
  it('reads what it writes, in order, and counts its bytes', () => {
    const body = formBody('/x', '*/*', form);
    expect(body.byteLength).toBe(bytesOf(body).byteLength);
    const again = readForm(bytesOf(body), body.contentType) as Form;
    expect(again.fields).toEqual(form.fields);
    expect(
      again.files.map(({ field, contentType, bytes }) => [field, contentType, Buffer.from(bytes)]),
    ).toEqual([['file', 'audio/wav', file.bytes]]);
  });

  it.each([
    ['', 'application/json'],
    ['', 'multipart/form-data'],
    ['', `multipart/form-data; boundary=${'b'.repeat(71)}`],
    ['no form at all', TYPE],
    ['--x-1\r\nContent-Disposition: form-data; name="a"\r\n\r\nnever ends', TYPE],
    ['--x-1\r\nContent-Disposition: form-data\r\n\r\nv\r\n--x-1--', TYPE],
    [
      Array.from({ length: 65 }, () => '--x-1\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n').join(
        '',
      ) + '--x-1--',
      TYPE,
    ],
    [
      Array.from(
        { length: 21 },
        () => '--x-1\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\nv\r\n',
      ).join('') + '--x-1--',
      TYPE,
    ],
  ])('refuses what is none or past its bounds (%#)', (text, type) => {
    expect(() => read(text, type)).toThrow();
  });

  it('AUD-02 refuses a part that begins with the boundary, which some readers take for the end of it', () => {
    const head = '--x-1\r\nContent-Disposition: form-data; name="prompt"\r\n\r\n';
    const hidden = '--x-1\r\nContent-Disposition: form-data; name="model"\r\n\r\ndearest';
    expect(() => read(`${head}${hidden}\r\n--x-1--`)).toThrow('begins with its boundary');
    expect(read(`${head}x${hidden}\r\n--x-1--`).fields).toHaveLength(1);
  });

  it('AUD-06 reads a field that holds a recording as a data URL, as those of known speakers do', () => {
    const wav = `data:audio/wav;base64,${'A'.repeat(2_560_000)}`;
    const head = '--x-1\r\nContent-Disposition: form-data; name="known_speaker_references[]"\r\n\r\n';
    expect(read(`${head}${wav}\r\n--x-1--`).fields).toEqual([['known_speaker_references[]', wav]]);
  });

  it('lets no name of the caller end a header', () => {
    const sent = bytesOf(
      formBody('/x', '*/*', { ...form, files: [{ ...file, field: 'f', filename: 'a"\r\nX-Evil: 1' }] }),
    ).toString('latin1');
    expect(sent).not.toContain('\r\nX-Evil');
    expect(sent).toContain('filename="a%22%0D%0AX-Evil: 1"');
  });

  it('never throws, whatever the bytes', () => {
    const near = fc.array(
      fc.constantFrom(
        '--x-1',
        '--x-1--',
        '\r\n',
        'Content-Disposition: form-data; name="a"',
        '; filename="b"',
        '\r\n\r\n',
        'v',
        '\0',
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          near.map((parts) => Buffer.from(parts.join(''))),
        ),
        (bytes) => {
          const found = readForm(bytes, TYPE);
          if (!(found instanceof BodyFault)) expect(found.boundary).toBe('x-1');
        },
      ),
    );
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { FeedRefused, openEnvelope, publicKeyText, readFeedKeys, sealEnvelope } from './envelope.js';

const { privateKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const keys = readFeedKeys(`ours=${publicKeyText(privateKey)}`);
const payload = Buffer.from('{"version":1}');
const sealed = sealEnvelope(payload, { pem, keyid: 'ours' });

const reasonOf = (text: string | Uint8Array, by = keys): string => {
  try {
    return openEnvelope(Buffer.from(text), by).keyid;
  } catch (failure) {
    if (failure instanceof FeedRefused) return failure.reason;
    throw failure;
  }
};

describe('a signed document', () => {
  it('issue 37 gives its payload where a known key has signed it', () => {
    expect(openEnvelope(Buffer.from(sealed), keys)).toEqual({ payload, keyid: 'ours' });
    expect(JSON.parse(sealed)).toMatchObject({
      payloadType: 'application/vnd.model-gateway.catalogue.v1+json',
      payload: payload.toString('base64'),
      signatures: [{ keyid: 'ours' }],
    });
  });

  it('issue 37 is refused where one bit of the payload or of the signature differs', () => {
    const envelope = JSON.parse(sealed) as { payload: string; signatures: { keyid: string; sig: string }[] };
    const flipped = (text: string): string => {
      const bytes = Buffer.from(text, 'base64');
      bytes[3] ^= 1;
      return bytes.toString('base64');
    };
    expect(reasonOf(JSON.stringify({ ...envelope, payload: flipped(envelope.payload) }))).toBe('signature');
    const [{ sig }] = envelope.signatures;
    const forged = [{ keyid: 'ours', sig: flipped(sig) }];
    expect(reasonOf(JSON.stringify({ ...envelope, signatures: forged }))).toBe('signature');
    const both = [...forged, ...envelope.signatures];
    expect(reasonOf(JSON.stringify({ ...envelope, signatures: both }))).toBe('ours');
  });

  it('issue 37 is refused of an unknown key, cut anywhere, of another type, and where it is no envelope', () => {
    const { privateKey: other } = generateKeyPairSync('ed25519');
    expect(reasonOf(sealed, readFeedKeys(`theirs=${publicKeyText(other)}`))).toBe('key');
    expect(reasonOf(sealed, readFeedKeys(`ours=${publicKeyText(other)}`))).toBe('signature');
    for (let at = 0; at < sealed.length - 2; at += 7) expect(reasonOf(sealed.slice(0, at))).toBe('envelope');
    expect(reasonOf(sealed.replace('catalogue.v1', 'catalogue.v2'))).toBe('envelope');
    for (const text of ['', '[]', 'null', '{}', '{"payload":1}']) expect(reasonOf(text)).toBe('envelope');
  });

  it.each(['ours', 'ours=', 'ours=AAAA', '=AAAA', 'o urs=AAAA'])(
    'issue 37 TypeError for the key "%s"',
    (text) => {
      expect(() => readFeedKeys(text)).toThrow(TypeError);
    },
  );
});

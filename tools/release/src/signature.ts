import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';

/** Returns the statement that is signed: what was released, from which commit, with the SHA-256 of each file. */
export function statementOf(
  version: string,
  commit: string,
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const sha256 = Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  );
  return `${JSON.stringify({ name: 'model-gateway', version, commit, sha256 }, null, 2)}\n`;
}

/** Reads an Ed25519 key in PEM; any other is refused, because nobody would know how to verify it. */
export function readSigningKey(pem: string | Buffer): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Node's message may quote the file.
    throw new Error('The signing key cannot be read: it has to be a private key in PEM');
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The signing key is not an Ed25519 key');
  return key;
}

/** Returns the raw signature, which OpenSSL verifies, and the public key for it. */
export function signed(statement: string, key: KeyObject): { signature: Buffer; publicKey: string } {
  return {
    signature: sign(null, Buffer.from(statement), key),
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
  };
}

import { promisify } from 'node:util';
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';

// Typed for gzip alone.
const codecs: Record<number, () => unknown> = kafkajs.CompressionCodecs;
const { CompressionTypes } = kafkajs;

/** Most bytes of a batch that is unpacked: one that says more is none that a producer of ours has sent. */
const UNPACKED_MAX = 268_435_456;
const FASTEST = { level: constants.Z_BEST_SPEED };
const BOUNDED = { maxOutputLength: UNPACKED_MAX };

type Bytes = (buffer: Buffer) => Promise<Buffer>;
const packed = promisify(gzip);
const unpacked = promisify(gunzip);
const packedZstd = promisify(zstdCompress);
const unpackedZstd = promisify(zstdDecompress);

/**
 * Codecs of batches, for kafkajs, which brings gzip alone. We send gzip, which every release reads; zstd is read, because a
 * broker packs anew by `compression.type`, and such batches stay in the log when the setting is taken back.
 */
codecs[CompressionTypes.GZIP] = codec(
  (buffer) => packed(buffer, FASTEST),
  (buffer) => unpacked(buffer, BOUNDED),
);
codecs[CompressionTypes.ZSTD] = codec(packedZstd, (buffer) => unpackedZstd(buffer, BOUNDED));
codecs[CompressionTypes.Snappy] = unreadable('snappy');
codecs[CompressionTypes.LZ4] = unreadable('lz4');

function codec(compress: Bytes, decompress: Bytes) {
  return () => ({ compress: ({ buffer }: { buffer: Buffer }) => compress(buffer), decompress });
}

/** Refuses each batch of the codec in a sentence that says what to do. */
function unreadable(name: string) {
  const fault = new Error(
    `A batch of a topic is packed with ${name}, which is not read here: set compression.type=producer on the topic and its ` +
      'brokers. docs/operations/kafka-topics.md says how to get past the batches that are there.',
  );
  const refuse: Bytes = () => Promise.reject(fault);
  return codec(refuse, refuse);
}

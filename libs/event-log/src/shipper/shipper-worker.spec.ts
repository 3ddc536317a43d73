import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { repository } from '@gateway/testing/plain';

const FILE = join(repository, 'dist/libs/event-log/src/shipper/shipper-worker.js');

describe('the built thread of the shipper', () => {
  it('begins by itself, and answers: its process loads nothing for it', async () => {
    const kafka = { brokers: ['127.0.0.1:1'] };
    const worker = new Worker(FILE, { workerData: { kafka, clientId: 'spec' } });
    try {
      const answer = new Promise((resolve, reject) => {
        worker.once('error', reject);
        worker.once('message', resolve);
      });
      worker.postMessage({ kind: 'stop', id: 1 });
      await expect(answer).resolves.toBeDefined();
    } finally {
      await worker.terminate();
    }
  });
});

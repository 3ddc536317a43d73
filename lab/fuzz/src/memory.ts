import type { Target } from './target.js';

export interface Memory {
  rssMiB: number;
  heapMiB: number;
}

const MIB = 1_048_576;

/** Returns the memory of the process; after a full collection where this run may ask for one. */
export async function memoryOf({ url, inspectorUrl }: Pick<Target, 'url' | 'inspectorUrl'>): Promise<Memory> {
  if (inspectorUrl !== null) await collectGarbage(inspectorUrl);
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string): number =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    rssMiB: value('process_resident_memory_bytes') / MIB,
    heapMiB: value('nodejs_heap_size_used_bytes') / MIB,
  };
}

function collectGarbage(inspectorUrl: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(inspectorUrl);
    let answered = 0;
    socket.onopen = () => {
      for (const id of [1, 2]) socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
    };
    socket.onmessage = () => {
      if (++answered < 2) return;
      socket.close();
      resolve();
    };
    socket.onerror = () => reject(new Error('the inspector of the gateway did not answer'));
  });
}

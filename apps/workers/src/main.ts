import { boundMemory } from '@gateway/platform/memory';

boundMemory();
await import('./workers.js');

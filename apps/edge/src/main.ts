import { boundMemory } from '@gateway/platform/memory';

boundMemory();
await import('./edge.js');

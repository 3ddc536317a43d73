export { promptFaults, promptOf } from './prompt.js';
export { renderPrompt } from './render-prompt.js';

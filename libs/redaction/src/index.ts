export { cut, scrub, scrubProviderText } from './scrub.js';

import type { RealtimeDialect } from '../realtime-dialect.js';
import { LiveTranslator } from './live-translator.js';

/** Google's Live API: a setup, then content both ways. */
export const dialect: RealtimeDialect = {
  name: 'gemini-live',
  open: () => ({
    method: 'GET',
    path: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    contentType: '',
    accept: '',
    pieces: [],
    byteLength: 0,
  }),
  translator: (upstreamModel, newId) => new LiveTranslator(upstreamModel, newId),
};

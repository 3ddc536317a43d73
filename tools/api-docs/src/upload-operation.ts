import type { Schema } from './class-schemas.js';
import { FAILURES, jsonOf, ref, securityOf, VERSION_HEADER, type PathItem } from './operation.js';

const FORM: Schema = {
  type: 'object',
  required: ['file', 'purpose'],
  properties: {
    file: { type: 'string', format: 'binary', description: 'The bytes, with a name.' },
    purpose: {
      type: 'string',
      enum: ['batch', 'user_data', 'vision', 'assistants', 'fine-tune', 'evals'],
      description: 'What the file is for.',
    },
    'expires_after[anchor]': { type: 'string', enum: ['created_at'] },
    'expires_after[seconds]': { type: 'integer', minimum: 3_600, maximum: 2_592_000 },
  },
};

/** POST /v1/files, which the workers service reads as it comes, without a handler that could describe it. */
export function uploadOperations(): PathItem[] {
  return [
    { path: '/v1/files', operationId: 'files_upload' },
    { path: '/openai/v1/files', operationId: 'openai_files_upload' },
  ].map(({ path, operationId }) => ({
    path,
    method: 'post',
    operation: {
      operationId,
      tags: ['workers'],
      summary: 'Uploads a file',
      description: 'Uploads a file of at most 32 MiB as a form.',
      parameters: [VERSION_HEADER],
      security: securityOf({ key: { permission: 'files:write' } }),
      'x-permission': 'files:write',
      requestBody: { required: true, content: { 'multipart/form-data': { schema: FORM } } },
      responses: { 200: { description: 'The file.', content: jsonOf(ref('File')) }, ...FAILURES },
    },
  }));
}

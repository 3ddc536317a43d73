import type { JsonObject } from '../../body/json-object.js';

/** One piece of reasoning as reasoning_details has it, without its index. */
export type ReasoningPiece =
  | { type: 'reasoning'; text: string; format: string }
  | { type: 'reasoning_signature'; signature: string; format: string }
  | { type: 'opaque_reasoning'; data: string; format: string };

/**
 * Members of `reasoning_details` (wire-formats 1.3). A block is text up to its signature; opaque data is a block of its
 * own. As stream deltas, pieces of one block share its index.
 */
export class ReasoningDetails {
  readonly blocks: JsonObject[] = [];
  private isOpen = false;

  /** Takes the piece in, and answers it as the delta of a stream. */
  add(piece: ReasoningPiece): JsonObject {
    if (piece.type === 'opaque_reasoning') {
      this.isOpen = false;
      const block = {
        type: 'reasoning.encrypted',
        data: piece.data,
        index: this.blocks.length,
        format: piece.format,
      };
      this.blocks.push(block);
      return block;
    }
    if (!this.isOpen)
      this.blocks.push({ type: 'reasoning.text', text: '', index: this.blocks.length, format: piece.format });
    this.isOpen = piece.type === 'reasoning';
    const index = this.blocks.length - 1;
    const block = this.blocks[index];
    if (piece.type === 'reasoning') {
      block.text = `${String(block.text)}${piece.text}`;
      return { type: 'reasoning.text', text: piece.text, index, format: piece.format };
    }
    block.signature = piece.signature;
    return { type: 'reasoning.text', signature: piece.signature, index, format: piece.format };
  }
}

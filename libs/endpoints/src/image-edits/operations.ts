import type { ImageOperation } from '@gateway/dialects';

export type EditOperation = Exclude<ImageOperation, 'generate'>;

/** Members that an operation may need or not know. */
export type EditMember =
  'prompt' | 'image' | 'mask' | 'reference_images' | 'upscale_factor' | 'aspect_ratio' | 'mask_feather';

interface Rule {
  readonly needs: readonly EditMember[];
  readonly refuses: readonly EditMember[];
  /** One picture is edited. */
  readonly isOfOne?: true;
  /** One picture is made. */
  readonly makesOne?: true;
  readonly referencesMax?: number;
}

/** The spec's rules of each operation. */
export const OPERATIONS: Readonly<Record<EditOperation, Rule>> = {
  edit: { needs: ['prompt', 'image'], refuses: ['mask_feather', 'upscale_factor'] },
  remove_background: {
    needs: ['image'],
    refuses: ['mask', 'reference_images', 'mask_feather', 'upscale_factor'],
    isOfOne: true,
  },
  upscale: {
    needs: ['image', 'upscale_factor'],
    refuses: ['mask', 'reference_images', 'mask_feather'],
    isOfOne: true,
  },
  outpaint: {
    needs: ['image', 'prompt', 'mask'],
    refuses: ['mask_feather', 'upscale_factor'],
    isOfOne: true,
  },
  mix: {
    needs: ['prompt', 'image', 'reference_images'],
    refuses: ['mask', 'mask_feather', 'upscale_factor'],
    isOfOne: true,
    makesOne: true,
    referencesMax: 3,
  },
  reframe: {
    needs: ['image', 'aspect_ratio'],
    refuses: ['mask', 'mask_feather', 'upscale_factor'],
    isOfOne: true,
    makesOne: true,
  },
  inpaint: { needs: ['image', 'mask'], refuses: ['upscale_factor'], isOfOne: true },
};

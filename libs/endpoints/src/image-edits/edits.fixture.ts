import sharp from 'sharp';

/** A PNG of one colour, as a data URL and as bytes. */
export async function image(
  width = 8,
  height = 8,
  colour = '#ff0000',
): Promise<{ url: string; bytes: Buffer }> {
  const bytes = await sharp({ create: { width, height, channels: 3, background: colour } })
    .png()
    .toBuffer();
  return { url: `data:image/png;base64,${bytes.toString('base64')}`, bytes };
}

/** A mask whose left half is white. */
export async function halfMask(width = 8, height = 8): Promise<string> {
  const white = await sharp({ create: { width: width / 2, height, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#000' } })
    .composite([{ input: white, left: 0, top: 0 }])
    .png()
    .toBuffer();
  return `data:image/png;base64,${bytes.toString('base64')}`;
}

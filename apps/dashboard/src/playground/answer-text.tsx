import { Typography } from '@mantine/core';
import type { ReactNode } from 'react';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/**
 * Text that a model wrote. Raw HTML is text, pictures are not loaded, links do not carry where they were followed from.
 */
export default function AnswerText({ text }: { text: string }): ReactNode {
  return (
    <Typography fz="sm">
      <Markdown
        remarkPlugins={[remarkGfm]}
        components={{
          img: ({ alt }) => <em>[picture{alt ? `: ${alt}` : ''}]</em>,
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noreferrer noopener nofollow">
              {children}
            </a>
          ),
        }}
      >
        {text}
      </Markdown>
    </Typography>
  );
}

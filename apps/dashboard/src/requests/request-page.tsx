import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyText } from '../shell/copy-text.js';
import { PageHead } from '../shell/page-head.js';
import { RequestView } from './request-view.js';

export default function RequestPage(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  return (
    <>
      <PageHead title="Request" about={<CopyText text={id} label="request id" />} />
      <RequestView id={id} />
    </>
  );
}

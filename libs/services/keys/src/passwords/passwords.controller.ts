import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ChangePasswordBody, ForgotPasswordBody, ResetPasswordBody } from '@gateway/contracts';
import { Access, sessionOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { PasswordLinks } from './password-links.js';
import { PasswordsService } from './passwords.service.js';

@Controller('auth/password')
export class PasswordsController {
  constructor(
    private readonly passwords: PasswordsService,
    private readonly links: PasswordLinks,
  ) {}

  /** Changes the own password. Every other session ends. */
  @Post('change')
  @HttpCode(204)
  @Access({ session: true })
  change(@Body() body: ChangePasswordBody, @Req() request: FastifyRequest): Promise<void> {
    const { current_password: current, new_password: next } = body;
    return this.passwords.change(sessionOf(request), { current, next }, request);
  }

  /** Mails a link to reset a password. The answer is the same for addresses that nobody has. */
  @Post('forgot')
  @HttpCode(204)
  @Access({ public: true })
  forgot(@Body() body: ForgotPasswordBody, @Req() request: FastifyRequest): void {
    this.links.request(body.email, request);
  }

  /** Sets a new password by the link of a mail. */
  @Post('reset')
  @HttpCode(204)
  @Access({ public: true })
  reset(@Body() body: ResetPasswordBody, @Req() request: FastifyRequest): Promise<void> {
    return this.passwords.reset(body.token, body.password, request);
  }
}

# The static binary that `make dist` builds, and nothing else: `make dist && docker build --tag lunas .`
FROM scratch
# A root file system: the program, certificates of public authorities, and an empty /var/lib/lunas and /tmp. It is unpacked with
# the owners that it names: all of it is root's, and /var/lib/lunas the server's.
ADD target/packages/image.tar /
USER 65532:65532
ENV LUNAS_DATABASE=sqlite:/var/lib/lunas/lunas.db LUNAS_DATA=/var/lib/lunas LUNAS_LISTEN=0.0.0.0:8080
WORKDIR /var/lib/lunas
VOLUME /var/lib/lunas
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/lunas"]
CMD ["serve"]

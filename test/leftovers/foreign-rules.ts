// Rules of others as they stand on nodes: Docker's, the kubelet's, firewalld's, a network plugin's.

export const FOREIGN_RULES = `*mangle
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-IPTABLES-HINT - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
-A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:DOCKER - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
:KUBE-ROUTER-HAIRPIN - [0:0]
:KUBE-SVC-NOT-A-HASH - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A PREROUTING -m comment --comment "kubernetes service portals" -j CNI-HOSTPORT-DNAT
-A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
-A POSTROUTING -m comment --comment "a quote \\" and -j KUBE-SERVICES" -j KUBE-ROUTER-HAIRPIN
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"cbr0\\" id: \\"4c1d\\"" -m multiport --dports 8080 -j DNAT --to-destination 10.244.1.9:80
-A DOCKER -i docker0 -j RETURN
-A KUBE-SVC-NOT-A-HASH -j RETURN
COMMIT
*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:DOCKER-USER - [0:0]
:FWDI_public - [0:0]
:KUBE-FIREWALL - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
:KUBE-POD-FW-ABCDEFGHIJKLMNOP - [0:0]
-A INPUT -j KUBE-FIREWALL
-A INPUT -m conntrack --ctstate NEW -m comment --comment "mine: kubernetes service portals" -j FWDI_public
-A FORWARD -j DOCKER-USER
-A OUTPUT -j KUBE-FIREWALL
-A DOCKER-USER -j RETURN
-A FWDI_public -p icmp -j ACCEPT
-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
-A KUBE-POD-FW-ABCDEFGHIJKLMNOP -m comment --comment "default network policy" -j RETURN
COMMIT
`;

/** The same without what is IPv4's alone. */
export const FOREIGN_RULES_6: string = FOREIGN_RULES.split('\n')
  .filter((line) => !/\d+\.\d+\.\d+\.\d+/.test(line))
  .join('\n')
  .replace('-p icmp -j', '-p ipv6-icmp -j');

/** A rule of somebody else that uses a chain of kube-proxy. */
export const FOREIGN_USER = `*nat
:CNI-HOSTPORT-SETMARK - [0:0]
-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j KUBE-MARK-MASQ
COMMIT
`;

//! Network ranges as operators write them: `192.0.2.0/24`, `2001:db8::/32`, or a single address.

use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Number of leading bits that all addresses in the range share.
    prefix_len: u32,
}

impl Network {
    /// Returns whether the range contains this address. An IPv4 address mapped to IPv6 is treated
    /// as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
            IpAddr::V6(address) => address.to_bits(),
        };
        let differs = bits(self.address) ^ bits(address);
        self.address.is_ipv4() == address.is_ipv4() && differs.leading_zeros() >= self.prefix_len
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let syntax_error =
            || "expected an IP address or network, such as 192.0.2.7 or 192.0.2.0/24".to_owned();
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| syntax_error())?;
        let address_len = if address.is_ipv4() { 32 } else { 128 };
        let prefix_len = bits.map_or(Ok(address_len), |bits| {
            bits.trim().parse().map_err(|_| syntax_error())
        })?;
        match prefix_len <= address_len {
            true => Ok(Self {
                address,
                prefix_len,
            }),
            false => Err(syntax_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_contains_addresses_with_its_prefix() {
        let check = |network: &str, address: &str, expected| {
            let network: Network = network.parse().unwrap();
            let contains = network.contains(address.parse().unwrap());
            assert_eq!(contains, expected, "{network:?} {address}");
        };
        check("192.0.2.0/24", "192.0.2.255", true);
        check("192.0.2.7/24", "192.0.2.1", true);
        check("192.0.2.0/24", "192.0.3.1", false);
        check("192.0.2.0/24", "::ffff:192.0.2.1", true);
        check("192.0.2.1", "192.0.2.1", true);
        check("192.0.2.1", "192.0.2.2", false);
        check("0.0.0.0/0", "203.0.113.7", true);
        check("0.0.0.0/0", "2001:db8::1", false);
        check("2001:db8::/32", "2001:db8:1::1", true);
        check("2001:db8::/32", "2001:db9::1", false);
        check("::1", "::1", true);
        check("::1", "127.0.0.1", false);
        for no in [
            "",
            "localhost",
            "192.0.2.0/33",
            "192.0.2.0/",
            "::/129",
            "1.2.3/8",
        ] {
            assert!(no.parse::<Network>().is_err(), "{no}");
        }
    }
}

//! Whole kernels, written by hand, in all orders and with all checks.

mod common;

use common::{Device, schedules};
use nesl_sim::ptx;

const SCAN: &str = include_str!("kernels/scan.ptx");
const REDUCE: &str = include_str!("kernels/reduce.ptx");
const SAXPY: &str = include_str!("kernels/saxpy_f64.ptx");
const HISTOGRAM: &str = include_str!("kernels/histogram.ptx");

#[test]
fn every_instruction_of_the_subset_is_decoded() {
    let module = ptx::parse(include_str!("kernels/subset.ptx")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(module.kernels[0].max_threads, Some(256));
}

#[test]
fn saxpy() {
    for options in schedules(3) {
        let mut device = Device::new(&options);
        let x: Vec<u64> = (0..5000).map(|i| f64::from(i).to_bits()).collect();
        let y = vec![1f64.to_bits(); 5000];
        let (x, y) = (device.upload_u64(&x), device.upload_u64(&y));
        let counters = device.launch(SAXPY, 4, 256, &[x, y, 2f64.to_bits(), 5000]).unwrap();
        let out = device.read_u64(y, 5000);
        assert!(out.iter().enumerate().all(|(i, y)| f64::from_bits(*y) == 2.0 * i as f64 + 1.0));
        assert_eq!(counters.load_bytes, 2 * 8 * 5000);
        assert_eq!(counters.store_bytes, 8 * 5000);
        assert_eq!(counters.load_sectors, 2 * 8 * 5000 / 32);
        assert!((counters.sector_efficiency() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn block_reduction() {
    for options in schedules(3) {
        let mut device = Device::new(&options);
        let x: Vec<u64> = (0..9_999).map(|i| f64::from(i).to_bits()).collect();
        let (x, out) = (device.upload_u64(&x), device.blank(16 * 8));
        device.launch(REDUCE, 16, 256, &[x, out, 9_999]).unwrap();
        let sum: f64 = device.read_u64(out, 16).iter().map(|bits| f64::from_bits(*bits)).sum();
        assert_eq!(sum, 9_999.0 * 9_998.0 / 2.0);
    }
}

#[test]
fn look_back_scan() {
    for options in schedules(5) {
        let mut device = Device::new(&options);
        let n = 5_003usize;
        let values: Vec<u64> = (0..n as u64).map(|i| i * 7919 % 1000).collect();
        let tiles = n.div_ceil(512);
        let (input, out) = (device.upload_u64(&values), device.blank(8 * n));
        let (flags, aggregates) = (device.upload_u32(&vec![0; tiles]), device.blank(8 * tiles));
        let (prefixes, counter) = (device.blank(8 * tiles), device.upload_u32(&[0]));
        let arguments = [input, out, n as u64, flags, aggregates, prefixes, counter];
        device
            .launch(SCAN, tiles as u32, 128, &arguments)
            .unwrap_or_else(|fault| panic!("{fault}"));
        let mut sum = 0;
        for (value, prefix) in values.iter().zip(device.read_u64(out, n)) {
            sum += value;
            assert_eq!(prefix, sum);
        }
    }
}

#[test]
fn histogram_in_shared_memory() {
    for options in schedules(3) {
        let mut device = Device::new(&options);
        let keys: Vec<u32> = (0..4_000).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 26).collect();
        let (input, out) = (device.upload_u32(&keys), device.upload_u32(&[0; 64]));
        device.launch(HISTOGRAM, 5, 128, &[input, out, 4_000]).unwrap_or_else(|f| panic!("{f}"));
        let mut expected = [0; 64];
        keys.iter().for_each(|key| expected[*key as usize] += 1);
        assert_eq!(device.read_u32(out, 64), expected);
    }
}

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Ponies",
  dependencies: [.package(name: "Tarn", path: "../..")],
  targets: [
    .executableTarget(name: "Ponies", dependencies: [.product(name: "Tarn", package: "Tarn")])
  ])

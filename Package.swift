// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
]
let engine: [SwiftSetting] = strict + [.strictMemorySafety()]

// `TARN_TESTS="TarnTests TidyTests" swift test` builds no other tests, and no tools where those need
// none. Optimizing the tests themselves would take longer than all else, so they never are.
let chosenTests = Context.environment["TARN_TESTS"]?.split(separator: " ").map(String.init)
let unoptimized: [SwiftSetting] =
  chosenTests == nil ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// The faces of the wings are for readers.
func faces(_ wings: String...) -> [String] { wings.map { "\($0)/README.md" } }

let package = Package(
  name: "Tarn",
  products: [
    .library(name: "Tarn", targets: ["Tarn"]),
    .library(name: "TarnSync", targets: ["TarnSync"]),
    .library(name: "TarnRealmFiles", targets: ["TarnRealmFiles"]),
    .executable(name: "tarn", targets: ["tarn"]),
    .executable(name: "tarn-daemon", targets: ["tarn-daemon"]),
    .executable(name: "tarn-sync", targets: ["tarn-sync"]),
    .executable(name: "tarn-import", targets: ["tarn-import"]),
    .executable(name: "tarn-stress", targets: ["tarn-stress"]),
    .executable(name: "tarn-bench", targets: ["tarn-bench"]),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    // Decimal arithmetic: Debian's libintelrdfpmath-dev, which has no pkg-config file. The
    // order of text in languages: libicu-dev.
    .target(
      name: "CTarn",
      linkerSettings: [
        .linkedLibrary("bidgcc100"), .linkedLibrary("icui18n"), .linkedLibrary("icuuc"),
      ]),
    .target(
      name: "TarnStore", dependencies: ["CLMDB", "CTarn"],
      exclude: faces("File", "Pages", "Versions", "Writing", "Store", "Query", "Live"),
      swiftSettings: engine),
    .target(
      name: "Tarn", dependencies: ["TarnStore", "CTarn"],
      exclude: faces(
        "Values", "Instance", "Model", "Objects", "Query", "Derived", "Realm", "Feed"),
      swiftSettings: engine),
    // Values as JSON: of the tools, and of PostgreSQL's columns with structure.
    .target(name: "TarnText", dependencies: ["TarnStore"], swiftSettings: strict),
    .target(
      name: "TarnSync", dependencies: ["Tarn", "TarnStore", "TarnText", "CPostgres"],
      exclude: ["README.md"],
      // In the program: a bundle of resources may not be installed with it.
      resources: [.embedInCode("Server/SQL")],
      swiftSettings: engine),
    // Reads the files of Realm's SDKs. Only programs that link this need libcrypto.
    .target(name: "RealmFiles", dependencies: ["CCrypto"], swiftSettings: engine),
    .target(
      name: "TarnRealmFiles", dependencies: ["RealmFiles", "Tarn", "TarnStore"],
      swiftSettings: engine),
    .target(
      name: "ToolSupport", dependencies: ["Tarn", "TarnStore", "TarnText"],
      path: "Tools/ToolSupport", swiftSettings: strict),
    .target(
      name: "BenchFloors", dependencies: ["CLMDB", "CSQLite", "CPostgres"],
      path: "Tools/BenchFloors",
      linkerSettings: [.linkedLibrary("curl")]),
    .target(
      name: "CEditLine", path: "Tools/CEditLine", linkerSettings: [.linkedLibrary("edit")]),
    .executableTarget(
      name: "tarn", dependencies: ["Tarn", "TarnStore", "TarnText", "ToolSupport", "CEditLine"],
      path: "Tools/tarn",
      swiftSettings: strict),
    // What the daemon has of C libraries: only it needs their packages.
    .target(
      name: "CDaemon", path: "Tools/CDaemon",
      linkerSettings: [
        .linkedLibrary("yaml"), .linkedLibrary("curl"), .linkedLibrary("microhttpd"),
        .linkedLibrary("systemd"), .linkedLibrary("crypto"),
      ]),
    .target(
      name: "TarnDaemon",
      dependencies: [
        "Tarn", "TarnStore", "TarnSync", "TarnText", "ToolSupport", "SyncProgram", "CDaemon",
      ],
      path: "Tools/TarnDaemon", swiftSettings: strict),
    .executableTarget(
      name: "tarn-daemon", dependencies: ["TarnDaemon"], path: "Tools/tarn-daemon",
      swiftSettings: strict),
    .target(
      name: "SyncProgram", dependencies: ["TarnStore", "TarnSync", "ToolSupport"],
      path: "Tools/SyncProgram", swiftSettings: strict),
    .executableTarget(
      name: "tarn-sync", dependencies: ["SyncProgram"], path: "Tools/tarn-sync",
      swiftSettings: strict),
    .executableTarget(
      name: "tarn-import",
      dependencies: ["RealmFiles", "TarnRealmFiles", "TarnStore", "TarnText", "ToolSupport"],
      path: "Tools/tarn-import", swiftSettings: strict),
    .target(name: "StressFaults", path: "Tools/StressFaults"),
    .executableTarget(
      name: "tarn-stress",
      dependencies: ["Tarn", "TarnStore", "TarnText", "ToolSupport", "StressFaults", "CTarn"],
      path: "Tools/tarn-stress", swiftSettings: strict),
    .executableTarget(
      name: "tarn-bench",
      dependencies: [
        "Tarn", "TarnStore", "TarnSync", "TarnRealmFiles", "RealmFileWriter", "ToolSupport",
        "BenchFloors", "LocalServer",
      ],
      path: "Tools/tarn-bench", swiftSettings: strict),
    // A PostgreSQL server for tests and measurements.
    .target(name: "LocalServer", path: "Tools/LocalServer", swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["TarnStore", "LocalServer"], path: "Tests/TestSupport",
      swiftSettings: strict),
    // Replicas and a server as values. It is optimized in an optimized build, unlike the tests.
    .target(
      name: "SyncSimulation", dependencies: ["TarnSync", "TarnStore", "TestSupport"],
      path: "Tests/SyncSimulation", swiftSettings: strict),
    // Files of Realm's SDKs with their contents as text, and a writer of the format.
    .target(
      name: "RealmFixtures", dependencies: ["RealmFiles"], path: "Tests/RealmFixtures",
      resources: [.copy("Files")], swiftSettings: strict),
    .target(name: "RealmFileWriter", path: "Tests/RealmFileWriter", swiftSettings: strict),
    .testTarget(
      name: "RealmFilesTests",
      dependencies: ["RealmFiles", "RealmFixtures", "RealmFileWriter", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "TarnRealmFilesTests",
      dependencies: [
        "Tarn", "TarnStore", "TarnRealmFiles", "RealmFiles", "RealmFixtures", "RealmFileWriter",
        "TestSupport",
      ],
      swiftSettings: strict + unoptimized),
    .testTarget(
      name: "TarnStoreTests", dependencies: ["TarnStore", "CTarn", "TestSupport"],
      exclude: ["Scalars/decimal_cases.py", "Scalars/decimal_cases.txt"],
      resources: [.copy("Resources")],
      swiftSettings: strict),
    .testTarget(
      name: "TarnTests", dependencies: ["Tarn", "TarnStore", "TestSupport"],
      swiftSettings: strict + unoptimized),
    .testTarget(
      name: "TarnSyncTests",
      dependencies: [
        "Tarn", "TarnSync", "TarnRealmFiles", "TarnStore", "TarnText", "SyncSimulation",
        "TestSupport",
      ],
      resources: [.copy("Resources")],
      swiftSettings: strict + unoptimized),
    .testTarget(
      name: "ToolsTests",
      dependencies: [
        "Tarn", "TarnStore", "TarnText", "ToolSupport", "BenchFloors", "RealmFixtures",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ProcessTests",
      dependencies: ["Tarn", "TarnStore", "ToolSupport", "CTarn", "CSQLite", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "Tarn", "TarnStore", "TarnSync", "TarnDaemon", "TarnText", "ToolSupport", "TestSupport",
      ],
      resources: [.copy("Resources")], swiftSettings: strict),
    .testTarget(name: "TidyTests", swiftSettings: strict),
  ]
)

if let chosenTests {
  package.targets.removeAll { $0.type == .test && !chosenTests.contains($0.name) }
  if Set(chosenTests).isDisjoint(with: ["ToolsTests", "ProcessTests", "DaemonTests"]) {
    var library: Set = ["CLMDB", "CTarn", "LocalServer", "TarnStore", "TestSupport"]
    if !Set(chosenTests).isDisjoint(with: ["RealmFilesTests", "TarnRealmFilesTests"]) {
      library.formUnion(["CCrypto", "RealmFiles", "RealmFixtures", "RealmFileWriter"])
    }
    if chosenTests.contains("TarnRealmFilesTests") {
      library.formUnion(["Tarn", "TarnRealmFiles"])
    }
    if chosenTests.contains("TarnTests") { library.insert("Tarn") }
    if chosenTests.contains("TarnSyncTests") {
      library.formUnion([
        "Tarn", "TarnSync", "TarnText", "CPostgres", "SyncSimulation", "TarnRealmFiles",
        "RealmFiles", "CCrypto",
      ])
    }
    package.targets.removeAll { $0.type != .test && !library.contains($0.name) }
    package.products.removeAll { !library.contains($0.name) }
  }
}

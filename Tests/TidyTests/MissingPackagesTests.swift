import Foundation
import Testing

/// A build without one of the Debian packages says which to install.
@Suite struct MissingPackagesTests {
  /// What clang says about a C file when it sees the compiler's own headers and no others.
  private func errors(_ path: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "clang", "-x", "c", "-fsyntax-only", "-ffreestanding", "-nostdlibinc",
      "-I", SourceTree.root.appendingPathComponent("Sources/CTarn/include").path,
      SourceTree.root.appendingPathComponent(path).path,
    ]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { $0.contains("error: ") }
  }

  @Test(arguments: [
    ("Sources/CLMDB/shim.h", "liblmdb-dev"), ("Sources/CSQLite/shim.h", "libsqlite3-dev"),
    ("Sources/CPostgres/shim.h", "libpq-dev"),
    ("Sources/CTarn/ctarn_decimal.c", "libintelrdfpmath-dev"),
    ("Sources/CTarn/ctarn_collation.c", "libicu-dev"),
  ])
  func theCompilerNamesThePackage(_ path: String, _ package: String) throws {
    let errors = try errors(path)
    let named = errors.firstIndex { $0.contains("apt-get install \(package)") }
    let notFound = errors.firstIndex { $0.contains("file not found") }
    #expect(try #require(named) < #require(notFound))
  }

  /// The benchmark's C reaches LMDB and SQLite through the headers that check.
  @Test func noOtherFileIncludesThem() {
    let checked = ["Sources/CLMDB/shim.h", "Sources/CSQLite/shim.h"]
    let strangers = SourceTree.files.filter { file in
      !checked.contains(file.path)
        && file.lines.contains { $0 == "#include <lmdb.h>" || $0 == "#include <sqlite3.h>" }
    }
    #expect(strangers.map(\.path) == [])
  }
}

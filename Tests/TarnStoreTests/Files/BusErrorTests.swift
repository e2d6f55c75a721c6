import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct BusErrorTests {
  @Test func `a program that asks for it names the file that was cut`() async throws {
    let result = await #expect(
      processExitsWith: .signal(SIGBUS), observing: [\.standardErrorContent]
    ) {
      let folder = TemporaryFolder()
      let path = folder.file("cut file.realm")
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      precondition(file >= 0 && ftruncate(file, 8192) == 0)
      let map = mmap(nil, 8192, PROT_READ, MAP_SHARED, file, 0)!
      precondition(map != MAP_FAILED && ftruncate(file, 4096) == 0)
      // Nobody tidies up after the signal; the name stays in the list of mappings.
      try FileManager.default.removeItem(atPath: folder.path)
      BusErrors.explain()
      exit(Int32(map.load(fromByteOffset: 4096, as: UInt8.self)))
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("/cut file.realm"), "\(text)")
    #expect(text.contains("was cut by another program"), "\(text)")
  }
}

import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Several processes that create a store, and those that are killed on the way.
  @Suite struct CreatingTests {
    @Test(arguments: [false, true])
    func `processes that create a store together all get it`(isThere: Bool) throws {
      let file = try StressFile(isFilled: false)
      for round in 0..<15 {
        let path = file.folder + "/\(round).realm"
        if isThere {
          #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        }
        let children = try (0..<8).map { _ in try StressTool.worker("open", path) }
        for child in children {
          let lines = child.finish().lines
          #expect(lines == ["opened 0"], "round \(round)")
        }
      }
    }

    @Test(arguments: [
      "new.locked", "new.content", "new.secondHeader", "new.firstHeader", "names.made",
    ])
    func `one who is killed while it makes a store in an empty file`(fault: String) throws {
      let file = try StressFile(isFilled: false)
      #expect(FileManager.default.createFile(atPath: file.path, contents: Data()))
      let before = FileFacts.at(file.path)?.identity
      let killed = try StressTool.worker("open", file.path, environment: ["TARN_FAULT": fault])
      #expect(killed.finish().end == .killed(SIGKILL))
      #expect(Environment.isYetToBeMade(path: file.path) == (fault != "new.firstHeader"))
      // Until the whole page of the header is durable: other sectors may be so before it.
      let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file.path)))
      let mark = bytes.dropFirst(StoreHeader.unfinishedMarkRange.lowerBound)
      let isMarked = mark.starts(with: StoreHeader.unfinishedMark)
      #expect(isMarked == !["new.locked", "names.made"].contains(fault))
      #expect(try StressTool.worker("open", file.path).finish().lines == ["opened 0"])
      #expect(FileFacts.at(file.path)?.identity == before)
    }

    @Test(arguments: ["new.content", "new.firstHeader", "new.written", "new.linked"])
    func `one who is killed while it makes a file leaves all of it or none`(
      fault: String
    ) throws {
      let file = try StressFile(isFilled: false)
      let killed = try StressTool.worker("open", file.path, environment: ["TARN_FAULT": fault])
      #expect(killed.finish().end == .killed(SIGKILL))
      let names = try FileManager.default.contentsOfDirectory(atPath: file.folder)
      #expect(names == (fault == "new.linked" ? ["x.realm"] : []))
      #expect(try StressTool.worker("open", file.path).finish().lines == ["opened 0"])
    }

    @Test func `a file that others have open is not made anew when it was emptied`() throws {
      let file = try StressFile()
      var store: Store? = try file.store()
      #expect(try store?.newestSnapshot().version != .zero)
      #expect(truncate(file.path, 0) == 0)
      for mode in ["write", "read-only"] {
        let lines = try StressTool.worker("open", file.path, "1", "1", mode).finish().lines
        #expect(lines.first?.hasPrefix("error invalidDatabase") == true, "\(lines)")
        #expect(lines.first?.contains("emptied while processes have it open") == true, "\(lines)")
      }
      #expect(file.bytes.isEmpty)
      store = nil
      #expect(try StressTool.worker("open", file.path).finish().lines == ["opened 0"])
    }
  }
}

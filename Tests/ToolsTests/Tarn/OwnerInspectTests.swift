import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn inspect --check` on files in which embedded objects have two owners, or none.
@Suite struct OwnerInspectTests {
  private let folder = TemporaryFolder()
  private static let classes = [
    ClassDefinition(
      name: "Part", properties: [.init(name: "size", type: .int)], isEmbedded: true),
    ClassDefinition(
      name: "Parent",
      properties: [.init(name: "child", type: .link, isOptional: true, target: "Part")]),
  ]

  private func check(_ make: (WriteSession) throws -> Void) throws -> ToolProcess.Result {
    var options = Store.Options()
    options.isDurable = false
    options.classes = Self.classes
    let store = try StoreRegistry.open(folder.file("a.realm"), options)
    try store.write { try make($0) }
    return try ToolProcess(folder, ["inspect", "a.realm", "--check"]).finish()
  }

  @Test func twoOwners() throws {
    let run = try check { session in
      let part = try session.create([:], in: ClassID(0))
      for _ in 0..<2 { try session.create([ColumnID(0): .link(part)], in: ClassID(1)) }
    }
    #expect(run.status != 0)
    #expect(
      (run.output + run.errors).contains(
        "object 0 of class Part is embedded and has 2 incoming links"),
      "\(run.output)\(run.errors)")
  }

  @Test func noOwner() throws {
    let run = try check { _ = try $0.create([:], in: ClassID(0)) }
    #expect(run.status != 0)
    #expect(
      (run.output + run.errors).contains("object 0 of class Part is embedded and has no owner"),
      "\(run.output)\(run.errors)")
  }

  @Test func oneOwner() throws {
    let run = try check { session in
      let part = try session.create([:], in: ClassID(0))
      try session.create([ColumnID(0): .link(part)], in: ClassID(1))
    }
    #expect(run.status == 0, "\(run.output)\(run.errors)")
  }
}

import Testing

@testable import Tarn

/// Key paths lie in memory as this toolchain's runtime lays them out.
struct KeyPathShapeTests {
  private struct Pair { var (first, second) = (1, 2) }
  private final class Holder {
    var pair = Pair()
    var next: Holder?
    var computed: Int { pair.first }
    var settable: Int {
      get { pair.first }
      set { pair.first = newValue }
    }
    subscript(number: Int) -> Int { number }
  }

  private func shape(_ keyPath: AnyKeyPath) -> String? {
    KeyPathShape(keyPath)?.parts.map { part in
      switch part {
      case .property(let property): "\(property.type)"
      case .field: "field"
      case .chain: "?"
      case .force: "!"
      case .wrap: "wrap"
      }
    }.joined(separator: " ")
  }

  /// Otherwise no key path has a shape, and each use of one traps.
  @Test func theLayoutIsKnown() { #expect(KeyPathShape.layoutIsKnown) }

  @Test func partsAreFound() {
    let number = 3
    #expect(shape(\Mare.age) == "Int")
    #expect(shape(\Mare.note) == "Optional<String>")
    #expect(shape(\Mare.mother?.age) == "Optional<Mare> ? Int wrap")
    #expect(shape(\Mare.mother?.note) == "Optional<Mare> ? Optional<String>")
    #expect(shape(\Mare.mother!.mother!.age) == "Optional<Mare> ! Optional<Mare> ! Int")
    #expect(shape(\Mare.name.count) == "String Int")
    #expect(shape(\Mare.self) == "")
    #expect(shape(\Holder.computed) == "Int")
    #expect(shape(\Holder.settable) == "Int")
    #expect(shape(\Holder.[number]) == "Int")
    #expect(shape(\Holder.next?[number]) != nil)
    #expect(shape(\[String].[number]) == "String")
    #expect(shape(\Pair.second) == "field")
  }

  @Test func aGetterIsTheSameInAllPaths() throws {
    func getter(_ keyPath: AnyKeyPath) throws -> UInt {
      let shape = try #require(KeyPathShape(keyPath))
      guard case .property(let property) = try #require(shape.parts.last) else { return 0 }
      return property.getter
    }
    let age = try getter(\Mare.age)
    #expect(try age == getter(\Pinto.age))
    #expect(try age == getter(\Mare.mother!.age))
    #expect(try age == getter(\Pinto.mother!.mother!.age))
    #expect(try age != getter(\Mare.counted))
    #expect(try age != getter(\Mare.negative))
    #expect(try age != getter(\Mare.same))
    #expect(try age != getter(\Mare.extended))
  }
}

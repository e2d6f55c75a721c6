import Foundation
import Testing

@testable import Tarn

@Suite struct UnmanagedObjectTests {
  @Test func propertiesWithoutValuesHaveTheirTypesDefaults() {
    let object = ModelEverything()
    #expect(object.int == 0 && object.int8 == 0 && object.int32 == 0 && object.int64 == 0)
    #expect(object.bool == false && object.float == 0)
    #expect(object.data == Data() && object.date == Date(timeIntervalSince1970: 0))
    #expect(object.mood == .calm && object.grade == .low)
    #expect(object.optionalInt == nil && object.optionalString == nil && object.link == nil)
    #expect(object.optionalMood == nil && object.optionalId == nil && object.optionalDate == nil)
    #expect(object.linking.isEmpty)
  }

  @Test func propertiesWithValuesHaveThem() {
    let object = ModelEverything()
    #expect(object.int16 == -3 && object.double == 2.5 && object.string == "text")
    #expect(object.size == .large && object.optionalInt8 == 8)
  }

  @Test func eachObjectGetsIdentifiersOfItsOwnThatStay() {
    let first = ModelEverything()
    let second = ModelEverything()
    #expect(first._id != second._id && first.uuid != second.uuid)
    #expect(first._id == first._id && first.uuid == first.uuid)
  }

  @Test func propertiesKeepWhatIsAssigned() {
    let object = ModelEverything()
    let other = ModelEverything()
    object.int += 5
    object.string.append("!")
    object.optionalInt8 = nil
    object.optionalMood = .wild
    object.link = other
    object.link?.link = object
    #expect(object.int == 5 && object.string == "text!" && object.optionalInt8 == nil)
    #expect(object.optionalMood == .wild && object.link === other && other.link === object)
    object.link = nil
    other.link = nil
    #expect(object.link == nil)
  }

  @Test func objectsAreEqualOnlyToThemselves() {
    let first = ModelDog()
    let second = ModelDog()
    #expect(first == first && first != second)
    #expect(first.isSameObject(as: first) && !first.isSameObject(as: second))
    #expect(Set([first, second, first]).count == 2)
    #expect(!first.isInvalidated)
  }

  @Test func descriptionsShowPropertiesAndLinkedObjects() {
    let dog = ModelDog()
    dog.name = "Rex"
    dog.favouriteToy = ModelToy()
    dog.favouriteToy?.color = "red"
    dog.nickname = "R"
    let text = dog.description
    #expect(text.hasPrefix("ModelDog {\n\t_id = 0;\n\tname = Rex;\n"))
    #expect(text.contains("\tfavouriteToy = ModelToy {\n\t\tcolor = red;\n\t\tprice = nil;"))
    #expect(text.contains("\tnickname = R;\n") && text.hasSuffix("}"))
    dog.mother = dog
    #expect(dog.description.contains("ModelDog { … }"))
    dog.mother = nil
  }

  @Test func propertiesTakeValuesOfRelatedTypes() throws {
    let object = ModelEverything()
    func set(_ name: String, _ value: Any) -> Realm.InvalidValue.Reason? {
      var reader = ValueReader(.taken, nil, keepsRefused: false)
      do throws(Realm.InvalidValue) {
        let property = ClassReflection.of(ModelEverything.self).property(name)!
        let given = try reader.read(value, for: property, of: object)
        try reader.set(property, of: object, given)
        return nil
      } catch {
        return error.reason
      }
    }
    for (name, value) in [
      ("int8", 5), ("mood", "wild"), ("optionalInt", 7), ("optionalMood", ModelMood.wild),
      ("double", 3), ("link", object),
    ] as [(String, Any)] {
      #expect(set(name, value) == nil)
    }
    #expect(object.int8 == 5 && object.mood == .wild && object.optionalInt == 7)
    #expect(object.optionalMood == .wild && object.double == 3 && object.link === object)
    #expect(set("int8", 500) == .outOfRange && set("mood", "none") == .refused)
    #expect(set("string", 1) == .wrongType && set("link", ModelDog()) == .wrongType)
    #expect(object.int8 == 5 && object.mood == .wild)
    object.link = nil
  }

  @Test func enumsCompareByRawValue() {
    #expect(ModelSize.small < .large && ModelMood.calm < .wild)
  }
}

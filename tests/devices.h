// Tests written once and run on every device.
//
//     class MyTest : public perrin::DeviceTest {};
//     TEST_P(MyTest, Moves) { Simulation s(device(), …); }
//     PERRIN_INSTANTIATE_DEVICES(MyTest);
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/device/device.h"

namespace perrin {

/// The parameter is "cpu" or "cuda"; without a CUDA device the tests there are skipped. Where
/// several processes run the tests they share the work, however little it is.
class DeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "cuda") {
      if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
      device_ = Device::cuda().with({.least_share = 1});
    } else {
      device_ = Device::cpu(2).with({.least_share = 1});
    }
  }
  const Device& device() const { return *device_; }

 private:
  std::optional<Device> device_;
};

}  // namespace perrin

#define PERRIN_INSTANTIATE_DEVICES(Suite)               \
  INSTANTIATE_TEST_SUITE_P(                             \
      Devices, Suite, ::testing::Values("cpu", "cuda"), \
      [](const ::testing::TestParamInfo<const char*>& i) { return std::string(i.param); })
